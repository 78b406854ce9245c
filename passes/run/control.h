// The control of a run: decides when each block runs.
//
// Each block runs until it has to wait, launch after launch. It goes on when a message comes, or when the other blocks
// come to the barrier. The order in which blocks take turns does not matter: see verify.h. The user of Control defines
// the contents of messages, the knowledge of blocks and the effects of data operations. Users are the proof
// (verify/checked_run.h), the recorder (run/run_recorder.h) and the replay of schedules (verify/replay.h).
#pragma once

#include "ir/cursor.h"
#include "passes/run/geometry.h"

namespace mscclc::passes::proof {

using ir::none;

/// The thing that a block waits for.
struct Waiting {
  enum Kind : std::uint8_t { Nothing, Channel, Semaphore, Barrier, Packet } kind = Nothing;
  std::uint32_t id = 0; ///< the waiting end of a channel, the semaphore, the barrier, or the cell
};

/// Receives the events of a run in their order, and does the work that is not control. Blocks are numbered as in
/// ProgramIndex.
class ControlEvents {
public:
  virtual ~ControlEvents() = default;

  /// The threads of `block` have met at a block-wide sync.
  virtual void endsPhase(std::uint32_t block) = 0;
  /// `blocks` meet at a barrier, each at its current operation. Their phases end.
  virtual void meet(std::span<const std::uint32_t> blocks) = 0;
  /// All blocks of `rank` meet between two launches. Their phases end.
  virtual void meetRank(std::uint32_t rank) = 0;
  /// Thread `thread` of `block` signals or releases `queue`. Returns a number, which takes() gets for this message.
  virtual std::uint32_t gives(std::uint32_t block, const ir::Op &op, std::uint32_t thread, std::uint32_t queue) = 0;
  /// Thread `thread` of `block` has waited on or acquired `queue`. `message` is the number that gives() returned;
  /// `none` for the initial value of a semaphore.
  virtual void takes(std::uint32_t block, const ir::Op &op, std::uint32_t thread, std::uint32_t queue,
                     std::uint32_t message) = 0;
  /// The operation flushes its channels.
  virtual void flushes(std::uint32_t /*block*/, const ir::Op & /*op*/) {}
  /// Does a data operation. Returns false if it has to wait for packets: see DataRun.
  virtual bool data(std::uint32_t block, const ir::Op &op) = 0;
  /// `block` has finished its current operation.
  virtual void done(std::uint32_t /*block*/) {}

  /// The user of `rank` writes its inputs before a launch, and reads its outputs after the first launch.
  virtual void userOverwrites(std::uint32_t /*rank*/) {}
  virtual void userReads(std::uint32_t /*rank*/) {}
  virtual void launchBegins() {}
  /// All blocks of `rank` have ended the current launch, and met.
  virtual void launchEnds(std::uint32_t /*rank*/) {}
};

/// Runs the launches of a program.
class Control {
public:
  Control(const ProgramIndex &index, const Geometry &geometry, ControlEvents &events);

  /// Limits the number of blocks of each rank that have begun but not ended. Blocks begin in the order of their
  /// numbers, and the next one begins when one ends.
  void holdAtOnce(std::uint64_t blocks) { heldAtOnce_ = blocks; }
  /// Lets all waits on `queue` last for ever.
  void hold(std::uint32_t queue) { isHeld_[queue] = true; }
  /// Ends the run when the running block has to wait, as if all blocks were stuck.
  void stop() { isStopped_ = true; }

  /// Makes the user's accesses before and after a launch. endLaunch() also goes on to the next launch.
  void beginLaunch();
  void endLaunch();
  /// Runs one launch of every rank to its end. Returns false if blocks are stuck. Then waiting() shows their waits.
  bool runLaunch();
  /// Continues a launch that got stuck: begins all blocks that have not begun.
  bool runTheRest();

  std::uint32_t launch() const { return launch_; } ///< number of the current launch, from 0 on
  /// Returns the number of blocks of `rank` that have begun in this launch.
  std::uint32_t begun(std::uint32_t rank) const { return begun_[rank]; }
  const Waiting &waiting(std::uint32_t block) const { return blocks_[block].waiting; }
  const ir::BlockCursor &at(std::uint32_t block) const { return blocks_[block].at; }
  /// Returns the current iteration of the pipeline around `block`; null outside of pipelines.
  const LoopSlice *slice(std::uint32_t block) const {
    return blocks_[block].at.inLoop() ? &blocks_[block].slice : nullptr;
  }
  bool finished(std::uint32_t block) const { return blocks_[block].at.atEnd(*blocks_[block].code); }

  /// Returns how much of the initial value is left in a semaphore's queue.
  std::uint32_t initial(std::uint32_t queue) const { return queues_.initial(queue); }
  /// Returns the number of parts of the current operation of `block` that are complete, so that it need not wait for
  /// them again.
  std::uint32_t &step(std::uint32_t block) { return blocks_[block].step; }
  /// Makes `block` wait. It is put behind the blocks of the list that begins with `waiters`.
  void wait(std::uint32_t block, std::uint32_t &waiters, Waiting::Kind kind, std::uint32_t id);
  /// Lets all blocks in the list that begins with `waiters` continue.
  void wake(std::uint32_t &waiters);

private:
  struct BlockState {
    const ir::ThreadBlock *code = nullptr;
    std::uint32_t rank = 0;
    ir::BlockCursor at;
    std::uint32_t step = 0; ///< number of ids that a wait has taken, or of sources that have arrived
    std::uint32_t nextWaiter = none;
    bool entered = false; ///< the work at the beginning of the operation is done
    Waiting waiting;
    LoopSlice slice;
  };
  struct Credit {
    std::uint32_t message = none;
  };
  bool runReady();
  void beginNext(std::uint32_t rank);
  void run(std::uint32_t block);
  bool execute(std::uint32_t block, const ir::Op &op);
  void giveAll(std::uint32_t block, const ir::Op &op);
  bool takeAll(std::uint32_t block, const ir::Op &op);
  bool barrier(std::uint32_t block, const ir::Op &op);

  const ProgramIndex &index_;
  const Geometry &geometry_;
  ControlEvents &events_;
  std::uint32_t launch_ = 0;
  std::vector<BlockState> blocks_;
  ir::CreditQueues<Credit> queues_;
  std::vector<std::uint32_t> waiters_;          ///< [queue]: the first waiting block; others follow by nextWaiter
  std::vector<bool> isHeld_;                    ///< [queue]
  ir::BarrierArrivals<std::uint32_t> meetings_; ///< meetings of blocks at barriers
  std::uint64_t heldAtOnce_ = none;
  std::vector<std::uint32_t> begun_; ///< [rank]
  std::vector<std::uint32_t> ready_;
  std::size_t firstReady_ = 0;
  bool isStopped_ = false;
};

} // namespace mscclc::passes::proof
