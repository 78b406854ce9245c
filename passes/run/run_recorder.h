// Records a run: see run_record.h.
#pragma once

#include "passes/run/cell_checks.h"
#include "passes/run/elements.h"
#include "passes/run/record_scope.h"
#include "passes/run/run_record.h"

#include <algorithm>
#include <set>
#include <unordered_map>

namespace mscclc::passes::prune {

class RunRecorder : private proof::CellChecks {
public:
  RunRecorder(const ProgramIndex &index, const proof::Geometry &geometry, proof::Memory &memory,
              const SyncPoints &points, SyncClasses &classes, bool sizesChange, bool ofFirstRank);

  /// Runs the program. Returns false if blocks are stuck.
  bool run();
  RunRecord take() { return std::move(record_); }

private:
  using CellId = proof::CellId;
  using DataStep = proof::DataStep;
  using Operand = proof::Operand;

  // run_recorder.cpp: sync
  void endsPhase(std::uint32_t block) override;
  void meet(std::span<const std::uint32_t> blocks) override;
  void meetRank(std::uint32_t rank) override;
  std::uint32_t gives(std::uint32_t block, const ir::Op &op, std::uint32_t thread, std::uint32_t queue) override;
  void takes(std::uint32_t block, const ir::Op &op, std::uint32_t thread, std::uint32_t queue,
             std::uint32_t message) override;
  void flushes(std::uint32_t block, const ir::Op &op) override;
  bool data(std::uint32_t block, const ir::Op &op) override { return data_.run(block, op); }
  void launchBegins() override;
  void launchEnds(std::uint32_t rank) override;
  /// Returns the time of the next event of `b`.
  std::uint32_t tick(std::uint32_t b) { return ++clock_[b]; }
  /// Makes later events of `b` later than `message`.
  void catchUp(std::uint32_t b, std::uint32_t message) {
    clock_[b] = std::max(clock_[b], record_.messages[message].time);
  }
  template <typename Blocks> void tickTogether(const Blocks &blocks);
  void beginPhase(std::uint32_t b, SyncPoint point);
  std::uint32_t phaseOf(std::uint32_t b) const { return static_cast<std::uint32_t>(record_.bounds[b].size() - 1); }
  void takeTurn(std::uint32_t b, std::uint32_t queue);
  void noteWait(std::uint32_t b, std::uint32_t queue, SyncPoint point, std::uint32_t thread);
  void receive(std::uint32_t b, std::uint32_t message, std::uint32_t thread, MessageKind kind);
  std::uint32_t &heardBy(std::uint32_t b, std::uint32_t thread);
  void acquirePackets(std::uint32_t rank);
  void keepShared();

  // recorded_accesses.cpp: data
  bool begins(const DataStep &step) override;
  void reads(const DataStep &step, const Operand &source) override;
  void writes(const DataStep &step, const Operand &part, std::uint32_t unit,
              std::span<const std::uint32_t> taken) override;
  void puts(const DataStep &step, std::uint32_t thread, std::uint32_t channel, const Operand &source,
            const Operand &destination) override;
  void userOverwrites(std::uint32_t rank) override;
  void userReads(std::uint32_t rank) override;
  std::uint32_t newAccess(std::uint32_t b, std::uint32_t op, bool besides = false);
  void knowTaken(std::uint32_t access, std::span<const std::uint32_t> taken);
  Cells cellsOf(const Operand &operand) const override {
    return scope_.cut(operand.rank, operand.scratch, operand.packet, operand.first, operand.count);
  }
  Cells userCellsOf(std::uint32_t rank) const override { return scope_.cut(rank, false, false, 0, memory_.numCells()); }
  void accesses(const Operand &operand, const JudgedAccess &access, bool writes) override;
  void compare(CellId cell, const proof::Epoch &first, bool firstWrites, const JudgedAccess &second,
               bool secondWrites) override;
  void keepRead(CellId cell, const JudgedAccess &access) override { memory_.addRead(memory_[cell], access.by, true); }
  void writesAgain(CellId cell, const JudgedAccess &access, std::uint32_t /*unit*/) override {
    memory_.setWriteAgain(cell, access.by);
  }
  void sendPacket(CellId cell, const JudgedAccess &access) override;
  bool mayStillRead(const proof::Epoch &reader, const JudgedAccess & /*user*/) override {
    return record_.accesses[reader.agent].port != none;
  }
  void pair(const proof::Epoch &first, Relation relation, std::uint32_t second, std::uint32_t ref, bool excusable);
  bool makesPackets(const proof::Epoch &reader) const;
  void noteScratch(const Operand &operand, std::uint32_t access, bool writes);
  void noteEnd(std::uint32_t rank);
  void noteWrite(const Operand &operand, std::uint32_t access);
  void keepDecisive();
  void keepLastUses(std::vector<Pair> &uses) const;
  void finish();

  bool asksOf(std::uint32_t access) const { return scope_.asksOf(record_.rankOf[record_.accesses[access].at.block]); }

  const SyncPoints &points_;
  SyncClasses &classes_;
  const proof::Elements elements_;
  const bool sizesChange_;
  const RecordScope scope_;
  RunRecord record_;

  std::vector<std::uint32_t> clock_; ///< [block]: the time of its last event
  std::vector<bool> shared_;         ///< [queue]: several blocks use one end of it, or it has an initial value
  std::unordered_map<std::uint32_t, std::uint32_t> lastWait_; ///< [queue]: the access of its last wait in this launch
  std::vector<std::uint32_t> previousWait_;                   ///< [channel]: index into RunRecord::waits
  std::vector<std::uint32_t> numMet_;                         ///< [rank]
  std::vector<std::uint32_t> lastPlain_;          ///< [block]: the phase's first access without additional knowledge
  std::vector<std::vector<std::uint32_t>> heard_; ///< [block][thread]: position after its last receipt
  struct End {
    std::uint32_t before = none, after = none; ///< accesses in the last phase of the first launch, and after it
  };
  std::vector<End> ends_;            ///< [rank]
  std::set<std::uint64_t> written_;  ///< block << 32 | rank: the block's first write to the rank's scratch is recorded
  std::vector<std::uint32_t> began_; ///< [rank]: the meeting with which its launch began
  /// [rank]: the meetings with which the senders of its packets began the current launch.
  std::vector<std::set<std::uint32_t>> packetsSince_;

  /// The current data operation: its reads and writes as accesses, and the message of its packets.
  struct InProgress {
    std::uint32_t reads = none, writes = none, message = none;
  };
  InProgress now_;
};

} // namespace mscclc::passes::prune
