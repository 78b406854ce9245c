// How blocks step through a program: for whoever runs it, be it to prove it, with data or with times.
//
// Each part is usable alone. BlockCursor is where one block is; CreditQueues what signals, releases and the starting
// values of semaphores let through; BarrierArrivals who has come to a barrier, ArrivalCounter how many. They hold no
// policy: which block goes next, what a credit carries and what waiting means is the walker's own. forEachOp goes
// through a block as it is written instead.
#pragma once

#include "ir/program_index.h"

#include <optional>
#include <span>
#include <type_traits>
#include <vector>

namespace mscclc::ir {

/// Where a block is: at an operation, in an iteration of the pipeline around it. Starts before the first operation.
class BlockCursor {
public:
  /// Index of the operation; that of a pipeline's header until enter().
  std::uint32_t op() const { return op_; }
  bool atEnd(const ThreadBlock &block) const { return op_ == block.ops.size(); }
  bool atHeader(const ThreadBlock &block) const { return block.ops[op_].kind == OpKind::Pipeline; }
  /// The header of the pipeline whose body the block is in, or `none`.
  std::uint32_t header() const { return header_; }
  bool inLoop() const { return header_ != none; }
  /// From 0; 0 outside of pipelines.
  std::uint64_t iteration() const { return iteration_; }
  bool isLastIteration() const { return iteration_ + 1 >= iterations_; }

  /// At a header: on to the first operation of the body, or past a body that is empty or never runs.
  void enter(const ThreadBlock &block, std::uint64_t iterations) {
    const std::uint32_t size = block.ops[op_].bodySize;
    if (iterations == 0 || size == 0) {
      op_ += 1 + size;
      return;
    }
    header_ = op_++;
    iteration_ = 0;
    iterations_ = iterations;
  }
  /// Past an operation that has run: on to what follows in the body, in its next iteration, or after it.
  void next(const ThreadBlock &block) {
    ++op_;
    if (header_ == none || op_ != header_ + 1 + block.ops[header_].bodySize)
      return;
    if (++iteration_ < iterations_) {
      op_ = header_ + 1;
    } else {
      header_ = none;
      iteration_ = iterations_ = 0;
    }
  }
  /// Through headers to an operation; false at the end. `iterationsOf(header)` tells how often a pipeline runs.
  template <typename IterationsOf> bool settle(const ThreadBlock &block, IterationsOf &&iterationsOf) {
    while (!atEnd(block) && atHeader(block))
      enter(block, iterationsOf(block.ops[op_]));
    return !atEnd(block);
  }

private:
  std::uint32_t op_ = 0, header_ = none;
  std::uint64_t iteration_ = 0, iterations_ = 0;
};

/// Calls `visit(index, header)` for each operation in the order in which they are written: `header` is that of the
/// pipeline whose body the operation is in, or `none`, as for the headers themselves. A visit that returns false ends
/// it; true if none did.
template <typename Visit> bool forEachOp(const ThreadBlock &block, Visit &&visit) {
  std::uint32_t header = none, end = 0;
  for (std::uint32_t o = 0; o < block.ops.size(); ++o) {
    if (o == end)
      header = none;
    if constexpr (std::is_void_v<std::invoke_result_t<Visit, std::uint32_t, std::uint32_t>>)
      visit(o, header);
    else if (!visit(o, header))
      return false;
    if (block.ops[o].kind == OpKind::Pipeline) {
      header = o;
      end = o + 1 + block.ops[o].bodySize;
    }
  }
  return true;
}

/// What was given to each queue (see ProgramIndex) and not yet taken, first in, first out. What a semaphore starts at
/// comes first, as credits that nobody gave.
template <typename Credit> class CreditQueues {
public:
  explicit CreditQueues(const ProgramIndex &index) : queues_(index.numQueues()) {
    for (std::uint32_t r = 0; r < index.numRanks(); ++r)
      for (std::uint32_t id = 0; id < index.program.ranks[r].semaphores.size(); ++id)
        queues_[index.semaphoreQueue(r, id)].initial = index.program.ranks[r].semaphores[id].initialValue;
  }

  void give(std::uint32_t queue, const Credit &credit) {
    std::uint32_t slot = free_;
    if (slot != none) {
      free_ = slots_[slot].next;
    } else {
      slot = static_cast<std::uint32_t>(slots_.size());
      slots_.emplace_back();
    }
    slots_[slot] = {credit, none};
    Queue &q = queues_[queue];
    (q.head == none ? q.head : slots_[q.tail].next) = slot;
    q.tail = slot;
  }
  bool isEmpty(std::uint32_t queue) const { return queues_[queue].initial == 0 && queues_[queue].head == none; }
  /// The first credit, taken away; a default one for the starting value. Nothing if the queue is empty.
  std::optional<Credit> take(std::uint32_t queue) {
    Queue &q = queues_[queue];
    if (q.initial != 0) {
      --q.initial;
      return Credit();
    }
    if (q.head == none)
      return std::nullopt;
    const std::uint32_t slot = q.head;
    q.head = slots_[slot].next;
    slots_[slot].next = free_;
    free_ = slot;
    return slots_[slot].credit;
  }
  /// What is left of the starting value.
  std::uint32_t initial(std::uint32_t queue) const { return queues_[queue].initial; }

private:
  struct Queue {
    std::uint32_t head = none, tail = none;
    std::uint32_t initial = 0;
  };
  struct Slot {
    Credit credit;
    std::uint32_t next = none;
  };
  std::vector<Queue> queues_;
  std::vector<Slot> slots_; ///< of all queues
  std::uint32_t free_ = none;
};

/// Counts who comes to a barrier of `size` parties, round after round.
class ArrivalCounter {
public:
  /// One more has come; the number of all who must have come before it goes on.
  std::uint64_t arrive(std::uint64_t size) { return arrivals_++ / size * size + size; }
  bool isOver(std::uint64_t target) const { return arrivals_ >= target; }
  /// Rounds that all parties came to.
  std::uint64_t rounds(std::uint64_t size) const { return arrivals_ / size; }

private:
  std::uint64_t arrivals_ = 0;
};

/// Who has come to each barrier of a program (its number: see ProgramIndex), each with an `Arrival` of the walker's.
///
/// Nobody comes to a round before all have left the last but one, as all must come to the one between: so two rounds
/// are kept.
template <typename Arrival> class BarrierArrivals {
public:
  explicit BarrierArrivals(const ProgramIndex &index) : barriers_(index.numBarriers()) {
    for (std::uint32_t b = 0; b < barriers_.size(); ++b)
      barriers_[b].size = static_cast<std::uint32_t>(index.barrier(b).blocks.size());
  }

  /// A block has come. Its ticket is for asking whether the others have.
  std::uint64_t arrive(std::uint32_t barrier, const Arrival &arrival) {
    Barrier &b = barriers_[barrier];
    b.arrivals.resize(2 * std::size_t{b.size});
    b.arrivals[b.come % b.arrivals.size()] = arrival;
    return b.come++;
  }
  /// All that came to the round of `ticket`, in their order; empty until the last one has come. Holds until the next
  /// arrival.
  std::span<const Arrival> met(std::uint32_t barrier, std::uint64_t ticket) const {
    const Barrier &b = barriers_[barrier];
    const std::uint64_t round = ticket / b.size;
    if (b.come < (round + 1) * b.size)
      return {};
    return std::span(b.arrivals).subspan(round % 2 * b.size, b.size);
  }

private:
  struct Barrier {
    std::uint32_t size = 0;
    std::uint64_t come = 0;
    std::vector<Arrival> arrivals; ///< of two rounds
  };
  std::vector<Barrier> barriers_;
};

} // namespace mscclc::ir
