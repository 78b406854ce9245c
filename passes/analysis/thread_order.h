// Finds merges of operations that lose an order between two acts of one thread.
//
// Thread i does the i-th signal, wait or port put of an operation. Within a phase, the order of the acts of one thread
// is the only order. An operation that is merged into another moves to other threads. Example: `put a; signal a; put b;
// signal b` becomes `put a, b; signal a, b`. Before, thread 0 did everything. Afterwards thread 0 does put a and signal
// a, and thread 1 does put b and signal b. Nothing is lost, because related acts move in the same way. But `put a; put
// a; signal a` would become `put a, a; signal a`. Then thread 1 does the second put and thread 0 does the signal, so
// the signal may overtake the put. (All of these are operations on port channels.)
//
// An order is lost if a signal no longer follows a put on its channel, or another signal with a different meaning. It
// is lost if a put no longer follows a put to the same place. And it is lost if a wait of a thread no longer comes
// before the sends of that thread. A sync moves, too: the sync that one operation asks for comes before or after all
// operations with which it is merged.
#pragma once

#include "ir/memory_map.h"

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace mscclc::passes {

/// The place of an operation after the merge: its leader, which is the operation into which it was merged, and the
/// number of threads of the merged operation that come before its own threads.
struct MergedInto {
  std::uint32_t leader = 0; ///< index of the operation itself if it was not merged
  std::uint32_t offset = 0;
  bool dropped = false;
};

/// Checks one block after another. Memory is reused from block to block.
class ThreadOrder {
public:
  explicit ThreadOrder(const ir::Program &program) : program_(program) {}

  /// Returns false if no phase of `after` contains two operations whose order matters when one thread does acts of
  /// both. Then no merge has lost an order.
  static bool matters(const ir::ThreadBlock &after);
  /// Finds operations of `before` whose merge loses an order, and returns the first of them in each phase of `after`.
  /// They must not be merged into their leaders. The result is empty if no order is lost, and is valid until the next
  /// call. `before`: operations of a block of `rank`, with its ids and chunks; `into`: the destination of each;
  /// `after`: the resulting operations.
  std::span<const std::uint32_t> lost(std::uint32_t rank, const ir::ThreadBlock &before,
                                      std::span<const MergedInto> into, const ir::ThreadBlock &after);

private:
  /// An act of one thread, with the number of its thread before and after the merge.
  struct Act {
    std::uint32_t op = 0, counter = 0;
    std::uint32_t threadIn = 0, threadOut = 0;
    std::uint64_t phaseIn = 0;
    ir::MemoryRange to; ///< the destination of a put
    bool related(const Act &later) const { return phaseIn < later.phaseIn || threadIn == later.threadIn; }
  };
  struct Phases {
    std::uint64_t phaseIn = 0, phaseOut = 0;
  };
  struct First {
    std::uint64_t phaseIn = 0; ///< 0: there is none
    std::uint32_t op = 0;
    bool before(std::uint64_t phase) const { return phaseIn != 0 && phaseIn < phase; }
  };
  /// Two waits, which suffice to find out whether one thread does all waits.
  struct Waits {
    std::optional<Act> first, other; ///< other: its thread after the merge is not that of `first`
    void add(const Act &act) {
      if (!first)
        first = act;
      else if (!other && act.threadOut != first->threadOut)
        other = act;
    }
  };
  using ByCounter = std::unordered_map<std::uint32_t, std::vector<Act>>;
  void start();
  void visit(std::uint32_t op, const Phases &phases);
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
  std::vector<std::uint32_t> outOf_;    ///< [operation before]: index of its leader in `after`
  std::vector<std::uint64_t> phasesIn_; ///< [operation before]
  // The following belong to the current phase of `after`.
  std::uint64_t phaseOut_ = 0;
  First data_, flush_;             ///< the first data operation, and the first flush
  ByCounter waits_, puts_, sends_; ///< earlier acts, with which later ones are compared
  std::uint64_t phaseIn_ = 0;
  std::vector<Waits> waitsOfThread_; ///< [thread before], for phase phaseIn_ of `before`
  Waits waitsNow_, waitsEarlier_;    ///< waits of all threads in phase phaseIn_, and in earlier phases
  std::optional<std::uint32_t> blamed_;
  std::vector<std::uint32_t> lost_;
};

} // namespace mscclc::passes
