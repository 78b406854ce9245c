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
#include <span>
#include <vector>

namespace mscclc::passes {

/// Where an operation went: which one leads the merged operation, and how many threads the leader's others take before.
struct MergedInto {
  std::uint32_t leader = 0; ///< its own index where it was not merged
  std::uint32_t offset = 0;
  bool dropped = false;
};

/// Asks of one block after another; buffers are kept between them.
class ThreadOrder {
public:
  explicit ThreadOrder(const ir::Program &program) : program_(program) {}

  /// False if no phase of `after` holds two operations that one thread could order: then none was lost.
  static bool matters(const ir::ThreadBlock &after);
  /// Operations of `before` that may not be merged into what leads them, the first of each phase in which an order is
  /// lost. Empty: none is. Holds until the next question. `before`: operations of a block of `rank`, with its ids and
  /// chunks; `into`: where each went; `after`: what they became.
  std::span<const std::uint32_t> lost(std::uint32_t rank, const ir::ThreadBlock &before,
                                      std::span<const MergedInto> into, const ir::ThreadBlock &after);

private:
  /// One thing that one thread does, before and after.
  struct Act {
    std::uint32_t op = 0, counter = 0;
    std::uint32_t threadIn = 0, threadOut = 0;
    std::uint64_t phaseIn = 0;
    ir::MemoryRange to; ///< of a put
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
  class ByCounter {
  public:
    void add(const Act &act);
    /// The first act on `counter`, in their order, that `is` is true of; null if there is none.
    template <typename Is> const Act *find(std::uint32_t counter, Is is) const;
    void clear() {
      ++generation_;
      acts_.clear();
    }

  private:
    static constexpr std::uint32_t noAct = ~std::uint32_t{0};
    struct List {
      std::uint64_t generation = 0; ///< of older ones, nothing counts
      std::uint32_t first = noAct, last = noAct;
    };
    struct Linked {
      Act act;
      std::uint32_t next = noAct;
    };
    std::vector<List> lists_; ///< [counter]
    std::vector<Linked> acts_;
    std::uint64_t generation_ = 1;
  };
  void start();
  void visit(std::uint32_t op, const Place &place);
  void visitAct(const ir::Op &op, const Act &act);
  void beginPhaseIn(std::uint64_t phase);
  void checkWaits(const Waits &earlier, const Act &later);
  template <typename Matters> void check(const ByCounter &earlier, const Act &later, Matters matters);
  void blame(std::uint32_t earlier, std::uint32_t later);
  void blameSync(std::uint32_t earlier);
  std::uint32_t threadAfter(std::uint32_t op, std::uint32_t thread) const;
  ir::MemoryRange destination(const ir::Op &op, std::uint32_t index) const;

  const ir::Program &program_;
  std::uint32_t rank_ = 0;
  const ir::ThreadBlock *before_ = nullptr, *after_ = nullptr;
  std::span<const MergedInto> into_;
  std::vector<std::uint32_t> outOf_;    ///< [operation before]: of its leader, the index after
  std::vector<std::uint64_t> phasesIn_; ///< [operation before]
  // Of the phase after at hand.
  std::uint64_t phaseOut_ = 0;
  First data_, flush_; ///< its first data operation, and its first flush
  ByCounter waits_, puts_, sends_;
  std::uint64_t phaseIn_ = 0;
  std::vector<Waits> waitsOfThread_; ///< [thread before], of phase phaseIn_ before
  Waits waitsNow_, waitsEarlier_;    ///< of all threads: in that phase, and in those before it
  std::optional<std::uint32_t> blamed_;
  std::vector<std::uint32_t> lost_;
};

} // namespace mscclc::passes
