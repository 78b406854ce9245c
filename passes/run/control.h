// Control of a run: who runs when.
//
// Launch after launch, each block runs until it has to wait; what others send, or their coming to a barrier, lets it go
// on. The order in which blocks take turns does not matter: see verify.h. What a message carries, what is known where,
// and what data operations do is the business of whoever runs the program: to prove it (verify/checked_run.h), to write
// the run down (run/run_recorder.h), or to make a schedule (verify/replay.h).
#pragma once

#include "ir/cursor.h"
#include "passes/run/geometry.h"

namespace mscclc::passes::proof {

using ir::none;

/// What a block waits for.
struct Waiting {
  enum Kind : std::uint8_t { Nothing, Channel, Semaphore, Barrier, Packet } kind = Nothing;
  std::uint32_t id = 0; ///< channel end that waits, semaphore, barrier, or cell
};

/// Is told what happens in a run, in its order, and does what is not control. Blocks are numbered as in ProgramIndex.
class ControlEvents {
public:
  virtual ~ControlEvents() = default;

  /// The threads of `block` have met.
  virtual void endsPhase(std::uint32_t block) = 0;
  /// `blocks` meet at a barrier, each at the operation where it is; their phases end.
  virtual void meet(std::span<const std::uint32_t> blocks) = 0;
  /// All blocks of `rank` meet between two launches; their phases end.
  virtual void meetRank(std::uint32_t rank) = 0;
  /// Thread `thread` of `block` signals or releases `queue`. Returns a number that whoever takes it is told.
  virtual std::uint32_t gives(std::uint32_t block, const ir::Op &op, std::uint32_t thread, std::uint32_t queue) = 0;
  /// Thread `thread` of `block` has waited on or acquired `queue`. `message`: what gives() returned; `none` for a
  /// semaphore's starting value.
  virtual void takes(std::uint32_t block, const ir::Op &op, std::uint32_t thread, std::uint32_t queue,
                     std::uint32_t message) = 0;
  /// The operation flushes its channels.
  virtual void flushes(std::uint32_t /*block*/, const ir::Op & /*op*/) {}
  /// Does a data operation. False if it has to wait for packets: see DataRun.
  virtual bool data(std::uint32_t block, const ir::Op &op) = 0;
  /// `block` has done the operation where it is.
  virtual void done(std::uint32_t /*block*/) {}

  /// The user of `rank` writes its inputs before a launch, and reads its outputs after the first one.
  virtual void userOverwrites(std::uint32_t /*rank*/) {}
  virtual void userReads(std::uint32_t /*rank*/) {}
  virtual void launchBegins() {}
  /// All blocks of `rank` have ended the present launch, and met.
  virtual void launchEnds(std::uint32_t /*rank*/) {}
};

class Control {
public:
  Control(const ProgramIndex &index, const Geometry &geometry, ControlEvents &events);

  /// Of each rank at most so many blocks have begun and not ended: in the order of their numbers, the next begins where
  /// one ends.
  void holdAtOnce(std::uint64_t blocks) { heldAtOnce_ = blocks; }
  /// Lets waits on this queue never pass.
  void hold(std::uint32_t queue) { isHeld_[queue] = true; }
  /// The run ends once the block that runs has to wait, as if all were stuck.
  void stop() { isStopped_ = true; }

  /// What a rank's user does around a launch; launches are counted at the end.
  void beginLaunch();
  void endLaunch();
  /// Runs one launch of every rank to its end. False if blocks are stuck; `waiting` tells on what.
  bool runLaunch();
  /// Where blocks are stuck: begins those that have not begun, and goes on.
  bool runTheRest();

  std::uint32_t launch() const { return launch_; } ///< from 0
  /// Blocks of `rank` that have begun in this launch.
  std::uint32_t begun(std::uint32_t rank) const { return begun_[rank]; }
  const Waiting &waiting(std::uint32_t block) const { return blocks_[block].waiting; }
  const ir::BlockCursor &at(std::uint32_t block) const { return blocks_[block].at; }
  /// What the present iteration of the pipeline around `block` moves; null outside of pipelines.
  const LoopSlice *slice(std::uint32_t block) const {
    return blocks_[block].at.inLoop() ? &blocks_[block].slice : nullptr;
  }
  bool finished(std::uint32_t block) const { return blocks_[block].at.atEnd(*blocks_[block].code); }

  /// What is left of the starting value of a semaphore's queue.
  std::uint32_t initial(std::uint32_t queue) const { return queues_.initial(queue); }
  /// Parts of the present operation of `block` that need not be waited for again.
  std::uint32_t &step(std::uint32_t block) { return blocks_[block].step; }
  /// `block` waits with those of `waiters`, of whom the first is given: behind them.
  void wait(std::uint32_t block, std::uint32_t &waiters, Waiting::Kind kind, std::uint32_t id);
  /// All that wait go on.
  void wake(std::uint32_t &waiters);

private:
  struct BlockState {
    const ir::ThreadBlock *code = nullptr;
    std::uint32_t rank = 0;
    ir::BlockCursor at;
    std::uint32_t step = 0; ///< ids of a wait that are done, or sources that are there
    std::uint32_t nextWaiter = none;
    bool entered = false; ///< the operation there has done what comes before it
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
  std::vector<std::uint32_t> waiters_;          ///< [queue]: the first block that waits, more by nextWaiter
  std::vector<bool> isHeld_;                    ///< [queue]
  ir::BarrierArrivals<std::uint32_t> meetings_; ///< of blocks
  std::uint64_t heldAtOnce_ = none;
  std::vector<std::uint32_t> begun_; ///< [rank]
  std::vector<std::uint32_t> ready_;
  std::size_t firstReady_ = 0;
  bool isStopped_ = false;
};

} // namespace mscclc::passes::proof
