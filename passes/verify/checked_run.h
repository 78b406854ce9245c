// One maximal execution of a program, with a check of every access.
//
// Control decides which block runs when, and DataRun which cells an operation accesses. Signals, semaphores and
// barriers carry clocks (Order). Data operations move symbolic values (Values). Each access is compared with the
// earlier accesses of its cells (Memory).
#pragma once

#include "ir/rows.h"
#include "passes/run/cell_checks.h"
#include "passes/run/elements.h"
#include "passes/verify/premises.h"
#include "passes/verify/scratch_history.h"
#include "passes/verify/threads.h"
#include "passes/verify/values.h"

#include <set>
#include <unordered_map>

namespace mscclc::passes::proof {

/// Two accesses of one cell that have no order. The second access is the later one in this execution.
struct Conflict {
  CellId cell = 0;
  Epoch first;
  bool firstWrites = false;
  Epoch second;
  bool secondWrites = false;
  View view;                                     ///< the knowledge of the second access, which lacks the first one
  bool control = false;                          ///< true if happens-before orders them, but too weakly for their data
  std::uint32_t firstOp = none, secondOp = none; ///< operations of the accesses; `none` for the user
};

/// Receives the findings of a checked run.
class RunListener {
public:
  virtual ~RunListener() = default;
  virtual void conflict(const Conflict &conflict) = 0;
  /// `op` sends packet `cell` through a port, but no packet of this launch has arrived there yet.
  virtual void packetNotThere(CellId cell, ir::OpRef op) = 0;
  /// In one launch, two operations apply a hook that writes arrays to output unit `unit` of `rank`.
  virtual void appliedTwice(std::uint32_t rank, std::uint64_t unit, ir::OpRef first, ir::OpRef second) = 0;
  /// A packet slot is written twice in one launch.
  virtual void slotWrittenTwice(CellId cell, const Epoch &first, const Epoch &second) = 0;
  /// The launch ends while port put `put` may still read input chunk `cell`.
  virtual void inputStillSent(CellId cell, const Epoch &put) = 0;
  /// A write of a launch into `rank`'s scratch may come before `first`, an access of an earlier launch to another
  /// chunk. If the launches have different message sizes, both chunks may be at the same place.
  virtual void sizeChanged(std::uint32_t rank, const Epoch &first, bool firstWrites, const Epoch &second) = 0;
  /// Two blocks of a rank wait on channel end `channel` without a fixed order.
  virtual void waitsNotOrdered(std::uint32_t channel, ir::OpRef first, ir::OpRef second) = 0;
  /// An operation moves rows of `cell`, but this cell has no rows of any slot.
  virtual void rowsUnknown(ir::OpRef op, CellId cell) = 0;
  /// An operation writes rows of input chunk `content` to output `cell`. But at the end of the launch, `cell` must have
  /// the rows of another slot.
  virtual void rowsMisplaced(ir::OpRef op, CellId cell, const ir::Contribution &content) = 0;
  /// Operation `narrows` rounds a sum to the type of elements, although operation `adds` adds to this sum later.
  virtual void narrowedEarly(ir::OpRef narrows, ir::OpRef adds) = 0;
};

struct RunCounts {
  std::uint64_t operations = 0, accesses = 0;
};

class CheckedRun : private CellChecks {
public:
  CheckedRun(const ProgramIndex &index, const Geometry &geometry, const Premises &premises, const ThreadRoles &roles,
             Memory &memory, Order &order, Values &values, RunListener &listener);

  /// Declares that the blocks that signal the counters `queues` do not take turns.
  void expectNoTurns(const std::set<std::uint32_t> &queues) { noTurns_ = queues; }
  /// Returns counters that several blocks signalled in no fixed order, although they were assumed to signal in turn. If
  /// there are any, all other findings are invalid.
  const std::set<std::uint32_t> &outOfTurn() const { return outOfTurn_; }
  /// Also checks launches of different message sizes that follow each other.
  void changeSizes() { history_.emplace(index_, order_); }
  /// Lets the run store in `rows` which slots' rows each operand holds, for a program of rows.
  void keepRows(ir::RowSlots &rows) { rows_ = &rows; }
  Control &control() { return control_; }
  const Control &control() const { return control_; }
  const RunCounts &counts() const { return counts_; }
  /// Returns the operation to which the operand of `record` belongs.
  std::uint32_t opOf(const Epoch &record) const;

private:
  /// The contents of a signal, or of a semaphore's release.
  struct Sent {
    MessageClock clock;
    std::uint32_t covers = none;  ///< list of the port puts that complete before the message (Order)
    std::uint32_t relayed = none; ///< list of the puts that the sender waited for in the same phase
  };
  /// A queue on which several blocks signal or wait, with the clocks of this launch's signals.
  struct SharedQueue {
    std::vector<std::vector<Sent>> sent;     ///< [signaller]
    std::vector<std::uint32_t> taken;        ///< [waiter]
    std::uint64_t initial = 0, numTaken = 0; ///< signals at the beginning of a launch; waits in this launch
    std::uint32_t lastBlock = none, lastPhase = 0, lastOp = 0; ///< place of the last wait in this launch
    std::uint32_t lastSender = none, lastSendPhase = 0;
    struct Signal {
      std::uint32_t signaller, number;
    };
    std::vector<Signal> inTurn;          ///< all signals of `sent`, in the order of the run
    std::vector<std::uint64_t> received; ///< [waiter]: number of these signals that it has received
  };
  // checked_run.cpp: sync
  void endsPhase(std::uint32_t block) override;
  void meet(std::span<const std::uint32_t> blocks) override;
  void meetRank(std::uint32_t rank) override { order_.meetRank(rank); }
  std::uint32_t gives(std::uint32_t block, const ir::Op &op, std::uint32_t thread, std::uint32_t queue) override;
  void takes(std::uint32_t block, const ir::Op &op, std::uint32_t thread, std::uint32_t queue,
             std::uint32_t message) override;
  void flushes(std::uint32_t block, const ir::Op &op) override;
  bool data(std::uint32_t block, const ir::Op &op) override;
  void done(std::uint32_t /*block*/) override { ++counts_.operations; }
  void launchBegins() override;
  Sent sendOf(std::uint32_t block, std::uint32_t thread, MessageKind kind, std::uint32_t portChannel);
  void takeOne(std::uint32_t block, std::uint32_t thread, std::uint32_t queue, MessageKind kind, const Sent &sent);
  void forgetThreadWaits(std::uint32_t block);
  void checkTurn(std::uint32_t block, SharedQueue &shared, std::uint32_t queue);
  void giveShared(std::uint32_t block, std::uint32_t queue, const SharedSync &parties, const Sent &sent);
  template <typename Take>
  void takeShared(std::uint32_t block, std::uint32_t queue, const SharedSync &parties, const Take &take);

  // data.cpp: data
  bool begins(const DataStep &step) override;
  void reads(const DataStep &step, const Operand &source) override;
  void computes(const DataStep &step) override;
  void applies(const DataStep &step);
  void writes(const DataStep &step, const Operand &part, std::uint32_t unit,
              std::span<const std::uint32_t> taken) override;
  void puts(const DataStep &step, std::uint32_t thread, std::uint32_t channel, const Operand &source,
            const Operand &destination) override;
  void packetNotThere(std::uint32_t block, CellId cell) override {
    listener_.packetNotThere(cell, index_.place(block, control_.at(block).op()));
  }
  void clocksOf(std::span<const std::uint32_t> messages, std::vector<MessageClock> &clocks) const {
    clocks.clear();
    for (const std::uint32_t message : messages)
      clocks.push_back(packetClocks_[message]);
  }
  void accesses(const Operand &operand, const JudgedAccess &access, bool writes) override;
  void compare(CellId id, const Epoch &first, bool firstWrites, const JudgedAccess &second, bool secondWrites) override;
  void keepRead(CellId id, const JudgedAccess &access) override;
  void wrote(CellId id, std::uint32_t unit) override;
  void writesAgain(CellId id, const JudgedAccess &access, std::uint32_t unit) override;
  void sendPacket(CellId id, const JudgedAccess &access) override;
  bool mayStillRead(const Epoch &reader, const JudgedAccess &user) override {
    return reader.isPut() && !order_.before(reader, false, user.view, Relation::Released);
  }
  void keepValues(const Operand &source);
  void noteRows(const Operand &source);
  void checkRowPlaces(const Operand &destination, std::uint32_t unit);
  void findNarrowed(const DataStep &step);
  void zeroSent(const DataStep &step);
  bool dropZeroes(const DataStep &step);
  ValueId stored(ValueId value);
  /// True if sums stay wide when operations store them in scratch.
  bool sumsStayWide() const { return hasWire_ || index_.program.movement.accumulate == ir::Accumulate::Wide; }
  bool staysWide(const Operand &written) const { return written.scratch && sumsStayWide(); }
  ir::OpRef placeOf(const DataStep &step) const { return index_.place(step.block, control_.at(step.block).op()); }
  bool sameElement(const Epoch &a, const Epoch &b) const;
  // packets.cpp: the order that packets make for reads of their sources

  /// The write that is checked.
  struct PacketWrite {
    const View &view;
    const Epoch &by;
    std::uint32_t element; ///< index of the written element in the operand; `none` for the user
    Relation relation;     ///< the relation that the taking of a packet must have to the write
  };
  /// A read at the current end of a trail (packets.cpp). Its operation may have made packets of what it read.
  struct Reading {
    CellId cell;
    Epoch by;
    std::uint32_t length; ///< number of packets on the trail, up to those made of this read
  };
  struct PacketDestination {
    std::uint32_t rank, operand;
  };
  bool computedFrom(CellId id, const Epoch &reader, const View &view, const Epoch &by);
  std::uint32_t elementWritten(CellId id, const Epoch &by) const;
  template <typename Visit> void anyPacketMadeOf(const Reading &reading, std::uint32_t near, Visit visit);
  /// Returns the destinations of an operation's packets, sorted by rank. They are computed at the first call.
  const std::vector<PacketDestination> &packetDestinations(std::uint32_t block, std::uint32_t op);
  bool takenBefore(CellId slot, const Epoch &taker, const PacketWrite &write) const;
  bool madeOf(CellId made, CellId slot, const Epoch &taker) const;
  bool knownTaken(const Cell &cell, const View &view) const;
  void report(CellId id, const Epoch &first, bool firstWrites, const Epoch &second, bool secondWrites,
              const View &view);
  // user.cpp: the accesses of a rank's user between launches
  void writeInputs();
  void userOverwrites(std::uint32_t rank) override { overwriteByUser(rank, userOf(rank, Epoch::userWrite)); }
  void userReads(std::uint32_t rank) override { readByUser(rank, userOf(rank, Epoch::userRead)); }
  void userWrote(std::uint32_t rank, CellId id, std::uint32_t unit) override;
  JudgedAccess userOf(std::uint32_t rank, std::uint32_t ref);
  void launchEnds(std::uint32_t rank) override;

  const Premises &premises_;
  const ThreadRoles &roles_;
  const Elements elements_;
  Order &order_;
  Values &values_;
  RunListener &listener_;
  RunCounts counts_;

  std::optional<ScratchHistory> history_;
  ir::RowSlots *rows_ = nullptr;
  std::vector<Sent> sent_;              ///< [message]: its contents; some entries are free
  std::vector<std::uint32_t> freeSent_; ///< messages whose entries in sent_ are free
  std::unordered_map<std::uint32_t, SharedQueue> shared_;
  std::set<std::uint32_t> noTurns_, outOfTurn_;
  /// The waits of one thread of a block in the current phase. Each later send of the thread carries all of them. The
  /// sends share one node and one list, to which only new waits are added. So the cost of a phase is that of its waits
  /// plus that of its sends.
  struct ThreadWaits {
    std::uint32_t thread = 0;
    std::vector<MessageClock> clocks;
    std::uint32_t node = none; ///< a node that contains the first `inNode` clocks
    std::uint32_t inNode = 0;
    std::uint32_t covers = none; ///< list of the port puts that are complete after these waits; each lane once
  };
  ThreadWaits *waitsOf(std::uint32_t block, std::uint32_t thread);
  View threadView(std::uint32_t block, std::uint32_t thread, const ThreadWaits *waits) const;
  View threadView(std::uint32_t block, std::uint32_t thread) {
    return threadView(block, thread, waitsOf(block, thread));
  }
  std::unordered_map<std::uint32_t, std::vector<ThreadWaits>> threadWaits_; ///< [block]

  /// The state of the current data operation, in addition to its DataStep.
  struct InProgress {
    std::vector<ValueId> values;         ///< [unit]: the value that the operation writes
    std::vector<MessageClock> taken;     ///< clocks of the packets that the operation took
    std::vector<MessageClock> takenHere; ///< clocks of the packets for the elements that are being written
    std::uint32_t firstUnit = 0;         ///< index in `values` of the first unit that is being written
    std::uint32_t message = none;        ///< message of the packets that the operation writes
    bool staysWide = false;              ///< true if sums stay wide in the operand that is being written
    bool fromScratch = false;            ///< true if `values` were read from scratch
    /// If the program has a wire format: true if the values that are being written have been encoded.
    bool isEncoded = false;
  };
  InProgress now_;
  const bool hasWire_ = ir::wireOf(index_.program) != nullptr;
  std::vector<ValueId> partsOfUnit_;
  /// [sum]: the first operation that narrowed it. The map is empty if sums may be narrowed by any operation.
  std::unordered_map<ValueId, ir::OpRef> narrowedBy_;
  std::map<Application, ir::OpRef> written_; ///< first launch: the operation of each application that writes arrays
  std::vector<MessageClock> packetClocks_;   ///< [message]: clock of its packets, in this launch
  std::vector<Reading> trail_;               ///< reads that computedFrom() follows
  std::unordered_map<std::uint64_t, std::vector<PacketDestination>> packetDestinations_; ///< key: block << 32 | op
  /// [block]: pairs of an operation's first operand and its number, sorted.
  mutable std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> operandIndex_;
};

} // namespace mscclc::passes::proof
