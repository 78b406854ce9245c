// Whether merging operations takes away an order that one thread gave them.
//
// Thread i does the i-th of what an operation names: a signal, a wait, a put through a port. Within a phase that one
// thread's order is all there is, and an operation that is merged into another moves to other threads. That loses
// nothing where all that is related moves alike: two puts and their two signals, each on a channel of its own. It loses
// an order where a signal no longer follows a put on its channel, or another signal that tells something else; where a
// put no longer follows one to the same place; and where what a thread waited for no longer goes before what it sends.
// A sync moves, too: what one operation asks for stands before or after all that it is merged with.
#pragma once

#include "ir/memory_map.h"

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace mscclc::passes {

/// Where an operation went: which one leads the merged operation, and how many threads the leader's others take before.
struct MergedInto {
  std::uint32_t leader = 0; ///< its own index where it was not merged
  std::uint32_t offset = 0;
  bool dropped = false;
};

class ThreadOrder {
public:
  /// False if no phase of `after` holds two operations that one thread could order: then none was lost.
  static bool matters(const ir::ThreadBlock &after);
  /// `before`: operations of a block of `rank`, with its ids and chunks; `into`: where each went; `after`: what they
  /// became.
  ThreadOrder(const ir::Program &program, std::uint32_t rank, const ir::ThreadBlock &before,
              const std::vector<MergedInto> &into, const ir::ThreadBlock &after);

  /// Operations of `before` that may not be merged into what leads them, the first of each phase in which an order is
  /// lost. Empty: none is.
  std::vector<std::uint32_t> lost();

private:
  /// One thing that one thread does, before and after.
  struct Act {
    std::uint32_t op = 0, queue = 0;
    std::uint32_t threadIn = 0, threadOut = 0;
    std::uint64_t phaseIn = 0;
    std::optional<ir::MemoryRange> to; ///< of a put
    bool related(const Act &later) const { return phaseIn < later.phaseIn || threadIn == later.threadIn; }
  };
  struct Place {
    std::uint64_t phaseIn = 0, phaseOut = 0;
  };
  struct First {
    std::uint64_t phaseIn = 0; ///< 0: there is none
    std::uint32_t op = 0;
    bool before(std::uint64_t phase) const { return phaseIn != 0 && phaseIn < phase; }
  };
  /// Waits, as far as it matters whether one thread does them all.
  struct Waits {
    std::optional<Act> first, other; ///< other: of another thread than the first, after
    void add(const Act &act) {
      if (!first)
        first = act;
      else if (!other && act.threadOut != first->threadOut)
        other = act;
    }
  };
  /// Acts of the phase after at hand, by counter.
  class ByQueue {
  public:
    std::vector<Act> &operator[](std::uint32_t queue);
    void clear() { ++generation_; }

  private:
    struct List {
      std::uint64_t generation = 0;
      std::vector<Act> acts;
    };
    std::vector<List> lists_;
    std::uint64_t generation_ = 1;
  };
  void visit(std::uint32_t op, const Place &place);
  void visitAct(const ir::Op &op, const Act &act);
  void beginPhaseIn(std::uint64_t phase);
  void checkWaits(const Waits &earlier, const Act &later);
  template <typename Matters> void check(std::vector<Act> &earlier, const Act &later, Matters matters);
  void blame(std::uint32_t earlier, std::uint32_t later);
  void blameSync(std::uint32_t earlier);
  std::uint32_t threadAfter(std::uint32_t op, std::uint32_t thread) const;
  std::uint32_t queueOf(const ir::Op &op, std::uint32_t id);

  ir::MemoryRange destination(const ir::Op &op, std::uint32_t index) const;

  const ir::Program &program_;
  const std::uint32_t rank_;
  const ir::ThreadBlock &before_, &after_;
  const std::vector<MergedInto> &into_;
  std::vector<std::uint32_t> outOf_;    ///< [operation before]: of its leader, the index after
  std::vector<std::uint64_t> phasesIn_; ///< [operation before]
  /// By type and number: counters of the block, which are few of its rank's.
  std::unordered_map<std::uint32_t, std::uint32_t> queues_;
  // Of the phase after at hand.
  std::uint64_t phaseOut_ = 0;
  First data_, flush_; ///< its first data operation, and its first flush
  ByQueue waits_, puts_, sends_;
  std::uint64_t phaseIn_ = 0;
  std::vector<Waits> waitsOfThread_; ///< [thread before], of phase phaseIn_ before
  Waits waitsNow_, waitsEarlier_;    ///< of all threads: in that phase, and in those before it
  std::optional<std::uint32_t> blamed_;
  std::vector<std::uint32_t> lost_;
};

} // namespace mscclc::passes
