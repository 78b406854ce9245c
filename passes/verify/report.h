// Turns what a checked run finds into findings for a user.
#pragma once

#include "passes/residency.h"
#include "passes/verify/findings.h"
#include "passes/verify/schedule_search.h"

namespace mscclc::passes::proof {

/// Turns conflicts into findings. A finding names both places and the missing order, and later gets a schedule.
class Reporter : public RunListener {
public:
  Reporter(const ProgramIndex &index, const Geometry &geometry, const Memory &memory, Order &order, Findings &findings)
      : index_(index), geometry_(geometry), memory_(memory), order_(order), findings_(findings) {}
  void setRun(const CheckedRun &run) { run_ = &run; }

  void conflict(const Conflict &conflict) override;
  void packetNotThere(CellId cell, ir::OpRef op) override;
  void appliedTwice(std::uint32_t rank, std::uint64_t unit, ir::OpRef first, ir::OpRef second) override;
  void slotWrittenTwice(CellId cell, const Epoch &first, const Epoch &second) override;
  void inputStillSent(CellId cell, const Epoch &put) override;
  void sizeChanged(std::uint32_t rank, const Epoch &first, bool firstWrites, const Epoch &second) override;
  void waitsNotOrdered(std::uint32_t channel, ir::OpRef first, ir::OpRef second) override;
  void narrowedEarly(ir::OpRef narrows, ir::OpRef adds) override;
  void rowsUnknown(ir::OpRef op, CellId cell) override;
  void rowsMisplaced(ir::OpRef op, CellId cell, const ir::Contribution &content) override;

  /// Adds to each race the shortest schedule that shows it.
  void addSchedules(std::uint32_t launches);
  /// Reports the blocks that are stuck, with their waits and the cycle.
  void deadlock();
  /// A rank whose resident blocks cannot end before others begin. resident_blocks.cpp uses it.
  struct Held {
    std::uint32_t block = 0, op = 0; ///< the first block that waits, and its operation
    std::string waitsFor;
    std::uint32_t blocks = 0, begun = 0; ///< number of the rank's blocks, and number of those that have begun
  };
  std::vector<Held> heldRanks() const;
  void notResident(const std::vector<Held> &held, const Residency &residency);
  /// Compares outputs with those of the collective. Returns the number of compared chunks.
  std::uint64_t checkResults(Values &values, std::uint32_t unitsPerChunk);
  /// Returns the operation that wrote `cell` last; an empty place if no operation did.
  ir::Where writerOf(const Cell &cell) const;

private:
  struct Story {
    std::size_t finding;
    Conflict conflict;
    std::uint32_t firstLaunch, secondLaunch;
  };
  /// The notes of a finding. They number the steps of its schedule.
  struct Notes {
    std::vector<Findings::Note> &all;
    std::uint32_t number = 0;
    void say(const std::string &words, ir::Where where);
  };
  void tell(const std::vector<Turn> &turns, Notes &notes) const;
  void tellAccess(const Conflict &conflict, const Epoch &epoch, std::uint32_t op, bool writes, bool late,
                  Notes &notes) const;
  std::string accessWords(const Epoch &record, std::uint32_t op, bool writes) const;
  std::string missing(const Conflict &conflict, std::uint32_t firstBlock, std::uint32_t secondBlock,
                      bool nextLaunch) const;
  std::string noSync(std::uint32_t firstBlock, std::uint32_t secondBlock, bool ofSource) const;
  std::string startSignal(std::uint32_t fromRank, std::uint32_t toRank, bool ofSource) const;
  std::string launchSync(const Conflict &conflict, std::uint32_t fromRank, std::uint32_t toRank, bool ofSource) const;
  bool readsTooEarly(const Conflict &conflict, std::uint32_t launch) const;
  std::uint32_t waitInPhase(std::uint32_t block, std::uint32_t op) const;
  std::uint32_t signalInPhase(std::uint32_t block, std::uint32_t op) const;
  bool isOfSource(const Conflict &conflict) const;
  std::string word(std::uint32_t block, std::uint32_t op) const;
  std::string wrapWords(const Conflict &conflict) const;
  ir::OpRef place(const Epoch &record, std::uint32_t op) const;
  std::string waitWords(const Waiting &waiting) const;
  void wrongResult(std::uint32_t rank, std::uint32_t chunk, const Cell &cell, const Values::Verdict &verdict,
                   const std::optional<std::pair<ir::ReduceOp, ir::ReduceOp>> &ops);

  const ProgramIndex &index_;
  const Geometry &geometry_;
  const Memory &memory_;
  Order &order_;
  Findings &findings_;
  const CheckedRun *run_ = nullptr;
  std::vector<Story> stories_;
};

} // namespace mscclc::passes::proof
