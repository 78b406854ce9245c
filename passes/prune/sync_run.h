// What writes down a run: see sync_record.h.
#pragma once

#include "ir/cursor.h"
#include "ir/op_memory.h"
#include "passes/prune/sync_record.h"
#include "passes/prune/sync_scope.h"
#include "passes/verify/elements.h"

#include <algorithm>
#include <set>
#include <unordered_map>

namespace mscclc::passes::prune {

class SyncRun {
public:
  SyncRun(const ProgramIndex &index, const proof::Geometry &geometry, const SyncPieces &pieces, SyncOrbits &orbits,
          bool sizesChange, bool ofFirstRank);

  /// False if blocks are stuck or there is too much memory.
  bool run();
  SyncRecord take() { return std::move(record_); }

private:
  using CellId = proof::CellId;
  struct BlockState {
    ir::BlockCursor at;
    std::uint32_t phase = 0;
    std::uint32_t step = 0; ///< ids of a wait that are done, or sources that are there
    std::uint32_t nextWaiter = none;
    bool comes = false; ///< at a barrier
    proof::LoopSlice slice;
  };
  struct Credit {
    std::uint32_t message = none;
  };
  struct Operand {
    std::uint32_t rank = 0;
    CellId first = 0;
    std::uint32_t count = 0, ref = 0;
    bool packet = false, scratch = false;
  };

  // sync_run.cpp: control
  bool launch();
  void advance(std::uint32_t b);
  bool execute(std::uint32_t b, const ir::Op &op);
  /// The time of what `b` does now.
  std::uint32_t tick(std::uint32_t b) { return ++clock_[b]; }
  /// What `b` does from now on is later than `message`.
  void catchUp(std::uint32_t b, std::uint32_t message) {
    clock_[b] = std::max(clock_[b], record_.messages[message].time);
  }
  template <typename Blocks> void tickTogether(const Blocks &blocks);
  void endPhase(std::uint32_t b, Piece piece);
  bool meet(std::uint32_t b);
  void meetRank(std::uint32_t rank);
  void sendAll(std::uint32_t b, const ir::Op &op);
  bool takeAll(std::uint32_t b, const ir::Op &op);
  void takeTurn(std::uint32_t b, std::uint32_t queue);
  void noteWait(std::uint32_t b, std::uint32_t queue, Piece piece);
  void receive(std::uint32_t b, std::uint32_t message, std::uint32_t thread, bool weak);
  std::uint32_t &heardBy(std::uint32_t b, std::uint32_t thread);
  void flushAll(std::uint32_t b, const ir::Op &op);
  void wait(std::uint32_t b, std::uint32_t &waiters);
  void wake(std::uint32_t &waiters);
  void findQueues();
  void reserve(std::uint32_t launches);
  void keepShared();

  // sync_run_data.cpp: data
  bool data(std::uint32_t b, const ir::Op &op);
  bool packetsArrived(std::uint32_t b, const ir::Op &op);
  void addOperand(std::uint32_t b, const ir::Op &op, std::uint32_t operand);
  void access(std::uint32_t b, const ir::Op &op);
  void move(std::uint32_t b, const ir::Op &op);
  void portPut(std::uint32_t b, const ir::Op &op);
  std::uint32_t newAccess(std::uint32_t b, std::uint32_t op, bool besides = false);
  void read(const Operand &operand, std::uint32_t access);
  void write(const Operand &operand, std::uint32_t access);
  void writeComputed(const Operand &operand, std::uint32_t access);
  void takePackets(std::uint32_t b);
  void sendPacket(CellId cell, std::uint32_t access);
  void checkLater(const Operand &operand, std::uint32_t access, bool writes);
  void checkRead(CellId cell, std::uint32_t access, std::uint32_t ref, bool packet);
  void checkWrite(CellId cell, std::uint32_t access, std::uint32_t ref, bool packet);
  void addRead(CellId cell, std::uint32_t access, std::uint32_t ref);
  void pair(const proof::Epoch &first, bool writes, std::uint32_t second, std::uint32_t ref, bool excusable);
  bool makesPackets(const proof::Epoch &reader) const;
  void noteScratch(const Operand &operand, std::uint32_t access, bool writes);
  void noteEnd(std::uint32_t rank);
  void noteWrite(const Operand &operand, std::uint32_t access);
  template <typename Visit> void forUserCells(std::uint32_t rank, Visit visit) const;
  void userOverwrites(std::uint32_t rank);
  void userReads(std::uint32_t rank);
  void keepDecisive();
  void keepLastUses(std::vector<Pair> &uses) const;
  void finish();

  /// Of an operand's cells those that matter.
  SyncScope::Cells cellsOf(const Operand &operand) const {
    return scope_.cut(operand.rank, operand.scratch, operand.packet, operand.first, operand.count);
  }
  bool asksOf(std::uint32_t access) const { return scope_.asksOf(record_.rankOf[record_.accesses[access].at.block]); }

  const ProgramIndex &index_;
  const proof::Geometry &geometry_;
  const SyncPieces &pieces_;
  SyncOrbits &orbits_;
  proof::Memory memory_;
  const proof::Elements elements_;
  const bool sizesChange_;
  const SyncScope scope_;
  SyncRecord record_;

  std::uint32_t launch_ = 0;
  std::vector<std::uint32_t> clock_; ///< [block]: the time of what it did last
  std::vector<BlockState> blocks_;
  ir::CreditQueues<Credit> queues_;
  ir::BarrierArrivals<std::uint32_t> meetings_;
  std::vector<std::uint32_t> queueOf_; ///< [piece]: of what sends or takes; of a barrier's part, the barrier
  std::vector<std::uint32_t> waiters_; ///< [queue]: the first block that waits, more by nextWaiter
  std::vector<bool> shared_;           ///< [queue]: several blocks use it, or it starts with credits
  std::unordered_map<std::uint32_t, std::uint32_t> lastWait_; ///< [queue]: the launch's last wait on it, an access
  std::vector<std::uint32_t> previousWait_;                   ///< [channel]: into SyncRecord::waits
  std::vector<std::uint32_t> ready_;
  std::vector<std::uint32_t> numMet_;             ///< [rank]
  std::vector<std::uint32_t> lastPlain_;          ///< [block]: the first access of its phase that others may be like
  std::vector<std::vector<std::uint32_t>> heard_; ///< [block][thread]: after the last receipt that it waited for
  struct End {
    std::uint32_t before = none, after = none; ///< accesses in the last phase of the first launch, and after it
  };
  std::vector<End> ends_;            ///< [rank]
  std::set<std::uint64_t> written_;  ///< [block << 32 | rank]: whose first write to the rank's scratch is noted
  std::vector<std::uint32_t> began_; ///< [rank]: the meeting with which its launch began

  // Of the data operation in progress.
  std::uint32_t block_ = none;
  std::vector<Operand> sources_, destinations_;
  bool mixed_ = false; ///< packets of one source come from several operations
  std::uint32_t packet_ = none;
};

} // namespace mscclc::passes::prune
