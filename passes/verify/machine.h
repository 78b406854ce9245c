// One maximal execution of a program, checking every access on the way.
//
// Launch after launch, each block runs until it must wait. Signals, semaphores and barriers move clocks (Order), data
// operations move symbolic values (Values) and are compared with the accesses before them, cell by cell (Memory). The
// order in which blocks take turns does not matter: see verify.h.
#pragma once

#include "ir/cursor.h"
#include "passes/verify/elements.h"
#include "passes/verify/premises.h"
#include "passes/verify/scratch_history.h"
#include "passes/verify/threads.h"
#include "passes/verify/values.h"

#include <set>
#include <unordered_map>

namespace mscclc::passes::proof {

/// Two accesses of one cell that are not ordered, the later one in this execution second.
struct Conflict {
  CellId cell = 0;
  Epoch first;
  bool firstWrites = false;
  Epoch second;
  bool secondWrites = false;
  View view;                                     ///< from where the second was judged
  bool control = false;                          ///< ordered, but for control only
  std::uint32_t firstOp = none, secondOp = none; ///< `none` for the user's own accesses
};

/// What a block waits for.
struct Waiting {
  enum Kind : std::uint8_t { Nothing, Channel, Semaphore, Barrier, Packet } kind = Nothing;
  std::uint32_t id = 0; ///< channel end that waits, semaphore, barrier, or cell
};

/// Receives what the machine finds.
class MachineListener {
public:
  virtual ~MachineListener() = default;
  virtual void conflict(const Conflict &conflict) = 0;
  /// `op` sends packet `cell` through a port, where no packet of this launch is yet.
  virtual void packetNotThere(CellId cell, ir::OpRef op) = 0;
  /// A packet slot written twice in one launch.
  virtual void slotWrittenTwice(CellId cell, const Epoch &first, const Epoch &second) = 0;
  /// The launch ends with input chunk `cell` still being sent by port put `put`.
  virtual void inputStillSent(CellId cell, const Epoch &put) = 0;
  /// A write of a launch into `rank`'s scratch that may come before `first`, an access of an earlier launch to another
  /// chunk, which has the write's place if that launch had another message size.
  virtual void sizeChanged(std::uint32_t rank, const Epoch &first, bool firstWrites, const Epoch &second) = 0;
  /// Two blocks of a rank wait on channel end `channel` in no fixed order.
  virtual void waitsNotOrdered(std::uint32_t channel, ir::OpRef first, ir::OpRef second) = 0;
};

struct MachineCounts {
  std::uint64_t operations = 0, accesses = 0, syncs = 0;
};

class Machine {
public:
  Machine(const ProgramIndex &index, const Geometry &geometry, const Premises &premises, const ThreadRoles &roles,
          Memory &memory, Order &order, Values &values, MachineListener &listener);

  /// Of these counters, which several blocks signal, it is not taken that the blocks do so in turns.
  void expectNoTurns(const std::set<std::uint32_t> &queues) { noTurns_ = queues; }
  /// Counters that several blocks signalled in no fixed order although that was taken: what was found does not count.
  const std::set<std::uint32_t> &outOfTurn() const { return outOfTurn_; }
  /// Tells reductions apart by the order of their parts, too; but for those of switches.
  void keepChains(bool chains) { chains_ = chains; }
  /// Looks at launches of different message sizes, too.
  void changeSizes() { history_.emplace(index_, order_); }
  /// Of each rank at most so many blocks have begun and not ended: in the order of their numbers, the next begins where
  /// one ends.
  void holdAtOnce(std::uint64_t blocks) { heldAtOnce_ = blocks; }
  /// Runs one launch of every rank to its end. False if blocks are stuck; `waiting` tells on what.
  bool runLaunch();
  /// Where blocks are stuck: begins those that have not begun, and goes on.
  bool runTheRest();
  /// Blocks of `rank` that have begun in this launch.
  std::uint32_t begun(std::uint32_t rank) const { return begun_[rank]; }
  /// What the user does with the buffers around a launch: reads outputs after it, writes inputs before it.
  void beginLaunch();
  void endLaunch();
  std::uint32_t launch() const { return launch_; }

  const Waiting &waiting(std::uint32_t block) const { return blocks_[block].waiting; }
  const ir::BlockCursor &at(std::uint32_t block) const { return blocks_[block].at; }
  bool finished(std::uint32_t block) const { return blocks_[block].at.atEnd(*blocks_[block].code); }
  const MachineCounts &counts() const { return counts_; }
  /// The operation that `record`'s operand belongs to.
  std::uint32_t opOf(const Epoch &record) const;

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
  /// What waits in a queue.
  struct Sent {
    MessageClock clock;
    std::uint32_t covers = none;  ///< port puts that are complete with it: see Order
    std::uint32_t relayed = none; ///< those of which its thread was told in the same phase
  };
  /// A queue that several blocks signal or wait on: clocks of the launch, by signaller.
  struct SharedQueue {
    std::vector<std::vector<Sent>> sent;                       ///< [signaller]
    std::vector<std::uint32_t> taken;                          ///< [waiter]
    std::uint64_t numSent = 0, numTaken = 0;                   ///< of the launch
    std::uint32_t lastBlock = none, lastPhase = 0, lastOp = 0; ///< of the launch's last wait
    std::uint32_t lastSender = none, lastSendPhase = 0;
    struct Place {
      std::uint32_t signaller, number;
    };
    std::vector<Place> inTurn;       ///< of all of `sent`, in the machine's order
    std::vector<std::uint64_t> told; ///< [waiter]: how many of these it was told of
  };
  /// An operand as cells: of `rank`, from `first`.
  struct Operand {
    std::uint32_t rank = 0;
    CellId first = 0;
    std::uint32_t count = 0;
    std::uint32_t ref = 0;
    bool packet = false;
    bool scratch = false;
  };
  // machine.cpp: control
  bool runReady();
  void beginNext(std::uint32_t rank);
  void run(std::uint32_t block);
  bool execute(std::uint32_t block, const ir::Op &op);
  void signal(std::uint32_t block, std::uint32_t queue, const Sent &sent);
  Sent sendOf(std::uint32_t block, std::uint32_t thread, bool relaxed, std::uint32_t portChannel);
  bool wait(std::uint32_t block, std::uint32_t thread, std::uint32_t queue, bool relaxed);
  bool waitAll(std::uint32_t block, const ir::Op &op);
  void signalAll(std::uint32_t block, const ir::Op &op, bool relaxed);
  bool barrier(std::uint32_t block, const ir::Op &op);
  void endPhase(std::uint32_t block);
  void forgetThreadWaits(std::uint32_t block);
  void flushAll(std::uint32_t block, const ir::Op &op);
  void block(std::uint32_t block, std::uint32_t &waiters, Waiting::Kind kind, std::uint32_t id);
  void wake(std::uint32_t &waiters);
  void checkTurn(std::uint32_t block, SharedQueue &shared, std::uint32_t queue);
  void signalShared(std::uint32_t block, std::uint32_t queue, const SharedSync &parties, const Sent &sent);
  template <typename Take>
  bool waitShared(std::uint32_t block, std::uint32_t queue, const SharedSync &parties, const Take &take);

  // data.cpp: data
  bool data(std::uint32_t block, const ir::Op &op);
  void resolve(const BlockState &state, const ir::Op &op);
  void addOperand(const BlockState &state, const ir::Op &op, std::uint32_t operand);
  bool packetsArrived(std::uint32_t block, const ir::Op &op);
  void move(std::uint32_t block);
  void reduce(std::uint32_t block, const ir::Op &op);
  void portPut(std::uint32_t block, const ir::Op &op);
  /// Reads a source that is stored as it is, and keeps its values.
  void readValues(const Operand &source, const Epoch &by, const View &view);
  void read(const Operand &operand, const Epoch &by, const View &view);
  void write(const Operand &operand, const Epoch &by, const View &view, const ValueId *values);
  void writeComputed(const Operand &operand, const Epoch &by, const View &view, const ValueId *values);
  void sendPacket(CellId id, const View &view);
  /// An access of a launch after the first, against what the first left there.
  void checkLater(const Operand &operand, const Epoch &by, const View &view, bool writes);
  void writeAgain(CellId id, const Epoch &by, const View &view, ValueId value);
  void checkRead(CellId id, const Epoch &by, const View &view);
  void checkWrite(CellId id, const Epoch &by, const View &view, bool packet);
  bool sameElement(const Epoch &a, const Epoch &b) const;
  // packets.cpp: what packets tell about the reads they were computed from
  /// The write in question.
  struct PacketWrite {
    const View &view;
    const Epoch &by;
    std::uint32_t element; ///< its place in the operand; `none` for the user
  };
  /// A read from which packets may have been made: the end of a trail.
  struct Reading {
    CellId cell;
    Epoch by;
    std::uint32_t length; ///< packets on the trail, with those made of this one
  };
  struct PacketDestination {
    std::uint32_t rank, operand;
  };
  bool computedFrom(CellId id, const Epoch &reader, const View &view, const Epoch &by);
  std::uint32_t elementWritten(CellId id, const Epoch &by) const;
  template <typename Visit> void anyPacketMadeOf(const Reading &reading, std::uint32_t near, Visit visit);
  /// Where the packets of an operation go, by rank. Made when first asked for.
  const std::vector<PacketDestination> &packetDestinations(std::uint32_t block, std::uint32_t op);
  bool takenBefore(CellId slot, const Epoch &taker, const PacketWrite &write) const;
  bool madeOf(CellId made, CellId slot, const Epoch &taker) const;
  bool knownTaken(const Cell &cell, const View &view) const;
  void report(CellId id, const Epoch &first, bool firstWrites, const Epoch &second, bool secondWrites,
              const View &view);
  // user.cpp: what a rank's user does between launches
  template <typename Visit> void forUserCells(std::uint32_t rank, Visit visit) const;
  void userOverwrites(std::uint32_t rank);
  void userReads(std::uint32_t rank);
  View packetView(std::uint32_t block);

  const ProgramIndex &index_;
  const Geometry &geometry_;
  const Premises &premises_;
  const ThreadRoles &roles_;
  Memory &memory_;
  const Elements elements_;
  Order &order_;
  Values &values_;
  MachineListener &listener_;
  MachineCounts counts_;

  std::optional<ScratchHistory> history_;
  std::uint32_t launch_ = 0; ///< from 0
  std::vector<BlockState> blocks_;
  ir::CreditQueues<Sent> queues_;
  std::vector<std::uint32_t> waiters_; ///< [queue]: the first block that waits, more by nextWaiter
  std::unordered_map<std::uint32_t, SharedQueue> shared_;
  std::set<std::uint32_t> noTurns_, outOfTurn_;
  ir::BarrierArrivals<std::uint32_t> meetings_; ///< of blocks
  /// What one thread of a block has waited for in the block's present phase. What it sends tells all of that: by one
  /// node and one list, which grow by what is new, so that all waits and sends of a phase cost no more than their sum.
  struct ThreadWaits {
    std::uint32_t thread = 0;
    std::vector<MessageClock> clocks;
    std::uint32_t node = none; ///< of the first `inNode` clocks
    std::uint32_t inNode = 0;
    std::uint32_t covers = none; ///< port puts that are complete with these, of each lane once
  };
  ThreadWaits *waitsOf(std::uint32_t block, std::uint32_t thread);
  View threadView(std::uint32_t block, std::uint32_t thread, const ThreadWaits *waits) const;
  View threadView(std::uint32_t block, std::uint32_t thread) {
    return threadView(block, thread, waitsOf(block, thread));
  }
  std::unordered_map<std::uint32_t, std::vector<ThreadWaits>> threadWaits_; ///< of blocks that relay
  std::uint64_t heldAtOnce_ = none;
  std::vector<std::uint32_t> begun_; ///< [rank]
  std::vector<std::uint32_t> ready_;
  std::size_t firstReady_ = 0;

  // Of the data operation in progress.
  std::vector<Operand> sources_, destinations_;
  std::vector<ValueId> partsOfUnit_, valuesOfUnit_;
  bool chains_ = false;
  std::uint32_t currentBlock_ = none;
  const ir::Op *currentOp_ = nullptr;
  bool sawPackets_ = false;
  std::vector<Epoch> stillSent_;
  std::vector<MessageClock> taken_;        ///< of the packets that the operation took
  std::vector<MessageClock> takenHere_;    ///< the same of the elements being written
  bool mixed_ = false;                     ///< packets of one source that it took come from several operations
  std::vector<MessageClock> packetClocks_; ///< of this launch
  std::uint32_t packetClock_ = none;
  std::vector<Reading> trail_;                                                           ///< of computedFrom
  std::unordered_map<std::uint64_t, std::vector<PacketDestination>> packetDestinations_; ///< [block << 32 | op]
  mutable std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>>
      operandIndex_; ///< [block]: (first operand, op)
};

} // namespace mscclc::passes::proof
