// Internal to the structural checker: its state, and the check of one operation.
#pragma once

#include "ir/containers.h"
#include "ir/structure.h"

#include <initializer_list>

namespace mscclc::ir {

/// Returns "1 source", "2 or more sources" or "no source".
std::string countWords(std::uint32_t least, bool more, std::string_view noun);

class StructureChecker {
public:
  StructureChecker(const Program &program, DiagnosticEngine &diagnostics, const ShowPlace *show)
      : program_(program), diagnostics_(diagnostics), show_(show), numRanks_(program.ranks.size()) {}

  bool run();

private:
  struct BarrierUse {
    std::uint64_t id;
    std::uint32_t block, op, count;
  };
  enum class Side { Source, Destination };
  static constexpr std::string_view sideNames[] = {"source", "destination"}; // by Side

  // structure.cpp: program, ranks, blocks
  void checkProgram();
  void checkCollective();
  void checkExpectations();
  void checkHooks();
  void checkHookUse(std::string_view what, std::uint64_t hook, std::uint32_t rank, const Chunk &chunk, bool inLoop);
  void checkRank();
  void checkPeers(ChannelType type);
  void checkSwitchChannels();
  void checkRemoteBuffers();
  void checkSemaphores();
  void checkBarriers();
  void checkBlock();
  void checkTable(std::span<const ResourceUse> uses, bool remote, StampSet (&tables)[4]);

  // structure_switch.cpp: switch groups over all ranks
  void checkSwitchGroups();

  // structure_op.cpp: operations
  void checkOp(const Op &op);
  bool checkRanges(const Op &op);
  void checkFields(const Op &op);
  bool checkSide(const Op &op, Side side);
  bool checkChunk(const Op &op, Side side, std::uint32_t index, const Chunk &chunk);
  bool checkIds(const Op &op);
  void checkDestinationsOfChannels(const Op &op);
  void checkSizes(const Op &op);
  void checkPipeline(const Op &op);

  // structure_movement.cpp: statements
  void checkMovement();
  void checkMove(const Move &move);
  bool checkCounts(const Move &move);
  void checkPlaces(const Move &move, Side side, std::span<const RankChunk> places);

  /// Reports a fault at the current place.
  void fault(const DiagInfo &info, std::initializer_list<DiagArg> args) { faultAt(at_, locOf(at_), info, args); }
  void faultAt(const ProgramPlace &place, LocId loc, const DiagInfo &info, std::initializer_list<DiagArg> args);
  LocId locOf(const ProgramPlace &place) const;
  /// True if enough faults were reported. Without a reader the limit is higher: many faults may be at one line of a
  /// source, and such faults are shown as one.
  bool full() const { return numFaults_ >= (show_ ? 20 : 100); }
  std::size_t numChannels(ChannelType type) const {
    return type == ChannelType::Switch ? rank_->switchChannels.size() : rank_->peers(type).size();
  }

  const Program &program_;
  DiagnosticEngine &diagnostics_;
  const ShowPlace *show_;
  std::size_t numRanks_;
  std::size_t numFaults_ = 0;

  bool switchesFit_ = true; ///< true if the switch channels of each rank are right, without a comparison of ranks

  ProgramPlace at_;
  const Rank *rank_ = nullptr;
  const ThreadBlock *block_ = nullptr;
  std::uint32_t pipelineEnd_ = 0; ///< index of the first operation after the current pipeline's body

  // State of the current rank:
  std::vector<std::uint32_t> remoteChunks_; ///< size of each remote buffer
  std::vector<std::uint32_t> switchChunks_; ///< size of the smallest buffer of each switch group
  std::vector<BarrierUse> barriers_;
  StampSet seen_;

  // State of the current block:
  StampSet channelTable_[4]; ///< by ChannelType
  StampSet remoteTable_[4];  ///< by ChannelType
};

} // namespace mscclc::ir
