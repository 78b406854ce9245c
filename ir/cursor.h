// Steps blocks through a program. Walkers use it to prove a program, to run it with data, or to time it.
//
// Each part can be used alone. BlockCursor is the place of one block. CreditQueues counts the signals, the releases and
// the initial values of semaphores that nobody has taken yet. BarrierArrivals lists the blocks at a barrier, and
// ArrivalCounter counts them. The walker chooses the next block, the contents of a credit, and the meaning of waiting.
// forEachOp visits the operations of a block, or of all blocks, in the order in which they are written.
#pragma once

#include "ir/program_index.h"

#include <list>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

namespace mscclc::ir {

/// The place of a block: at an operation, in an iteration of the pipeline around it. It starts before the first
/// operation.
class BlockCursor {
public:
  /// Returns the index of the operation. Before enter() it is the index of a pipeline's header.
  std::uint32_t op() const { return op_; }
  bool atEnd(const ThreadBlock &block) const { return op_ == block.ops.size(); }
  bool atHeader(const ThreadBlock &block) const { return block.ops[op_].kind == OpKind::Pipeline; }
  /// Returns the header of the pipeline around the block's place, or `none`.
  std::uint32_t header() const { return header_; }
  bool inLoop() const { return header_ != none; }
  /// Returns the iteration of the pipeline, from 0. Outside of pipelines it is 0.
  std::uint64_t iteration() const { return iteration_; }
  bool isLastIteration() const { return iteration_ + 1 >= iterations_; }

  /// Enters the pipeline at the current header. Skips a body that is empty or never runs.
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
  /// Steps past the operation that has just run: to the next operation, to the next iteration, or past the pipeline.
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
  /// Enters pipelines until the place is at an operation. Returns false at the end of the block. `iterationsOf(header)`
  /// returns the number of iterations of a pipeline.
  template <typename IterationsOf> bool settle(const ThreadBlock &block, IterationsOf &&iterationsOf) {
    while (!atEnd(block) && atHeader(block))
      enter(block, iterationsOf(block.ops[op_]));
    return !atEnd(block);
  }

private:
  std::uint32_t op_ = 0, header_ = none;
  std::uint64_t iteration_ = 0, iterations_ = 0;
};

/// Calls `visit(index, header)` for each operation in the order in which they are written. `header` is the header of
/// the pipeline around the operation, or `none`. It is `none` for a header, too. Stops when a visit returns false, and
/// returns false then. Otherwise returns true.
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

/// Calls `visit(block, index)` for each operation of all blocks, block after block.
template <typename Visit> void forEachOp(const ProgramIndex &program, Visit &&visit) {
  for (std::uint32_t b = 0; b < program.numBlocks(); ++b)
    for (std::uint32_t o = 0; o < program.ops(b).ops.size(); ++o)
      visit(b, o);
}

/// Rewrites the operations of `block` into `ops`. Calls `write(index)` for each operation in order. `write` appends the
/// replacement to `ops`: one operation for a pipeline's header, and any number for another operation. Sets the sizes of
/// pipelines' bodies in `ops`.
template <typename Write> void rewriteOps(const ThreadBlock &block, std::vector<Op> &ops, Write &&write) {
  std::size_t newHeader = 0;
  forEachOp(block, [&](std::uint32_t o, std::uint32_t header) {
    const std::size_t before = ops.size();
    write(o);
    if (block.ops[o].kind == OpKind::Pipeline)
      ops[newHeader = before].bodySize = 0;
    else if (header != none)
      ops[newHeader].bodySize += static_cast<std::uint32_t>(ops.size() - before);
  });
}

/// The credits of each queue (see ProgramIndex) that were given and not yet taken, first in, first out. The initial
/// value of a semaphore comes first, as credits without a giver.
template <typename Credit> class CreditQueues {
public:
  explicit CreditQueues(const ProgramIndex &index) : queues_(index.numQueues()) {
    for (std::uint32_t r = 0; r < index.numRanks(); ++r)
      for (std::uint32_t id = 0; id < index.program.ranks[r].semaphores.size(); ++id)
        queues_[index.semaphoreQueue(r, id)].initial = index.program.ranks[r].semaphores[id].initialValue;
  }

  void give(std::uint32_t queue, const Credit &credit) { queues_[queue].given.push_back(credit); }
  bool isEmpty(std::uint32_t queue) const { return queues_[queue].initial == 0 && queues_[queue].given.empty(); }
  /// Removes the first credit and returns it. A credit of the initial value is a default `Credit`. Returns nothing if
  /// the queue is empty.
  std::optional<Credit> take(std::uint32_t queue) {
    Queue &q = queues_[queue];
    if (q.initial != 0) {
      --q.initial;
      return Credit();
    }
    if (q.given.empty())
      return std::nullopt;
    const Credit first = q.given.front();
    q.given.pop_front();
    return first;
  }
  /// Returns how much of the initial value nobody has taken yet.
  std::uint32_t initial(std::uint32_t queue) const { return queues_[queue].initial; }

private:
  struct Queue {
    std::uint32_t initial = 0;
    std::list<Credit> given; ///< a list, because most queues are empty most of the time
  };
  std::vector<Queue> queues_;
};

/// Counts the arrivals at a barrier of `size` parties, in all rounds.
class ArrivalCounter {
public:
  /// Counts one more arrival. Returns the number of arrivals with which its round is complete.
  std::uint64_t arrive(std::uint64_t size) { return arrivals_++ / size * size + size; }
  bool isOver(std::uint64_t target) const { return arrivals_ >= target; }
  /// Returns the number of complete rounds.
  std::uint64_t rounds(std::uint64_t size) const { return arrivals_ / size; }

private:
  std::uint64_t arrivals_ = 0;
};

/// The arrivals at each barrier of a program (by its number in ProgramIndex). The walker chooses the meaning of an
/// `Arrival`.
///
/// Two rounds are kept. When a block arrives for a round, all blocks have arrived for the previous round. So they have
/// left the round before that.
template <typename Arrival> class BarrierArrivals {
public:
  explicit BarrierArrivals(const ProgramIndex &index) : barriers_(index.numBarriers()) {
    for (std::uint32_t b = 0; b < barriers_.size(); ++b)
      barriers_[b].size = static_cast<std::uint32_t>(index.barrier(b).blocks.size());
  }

  /// Adds the arrival of a block. Returns a ticket, with which met() finds the other arrivals of the round.
  std::uint64_t arrive(std::uint32_t barrier, const Arrival &arrival) {
    Barrier &b = barriers_[barrier];
    b.arrivals.resize(2 * std::size_t{b.size});
    b.arrivals[b.come % b.arrivals.size()] = arrival;
    return b.come++;
  }
  /// Returns all arrivals of the round of `ticket`, in their order. The span is empty until the last block has arrived,
  /// and valid until the next arrival.
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
    std::vector<Arrival> arrivals; ///< the arrivals of two rounds
  };
  std::vector<Barrier> barriers_;
};

} // namespace mscclc::ir
