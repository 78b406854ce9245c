// Writes each thread block from its plan.
#pragma once

#include "ir/containers.h"
#include "ir/program_index.h"
#include "passes/schedule/channels.h"
#include "passes/schedule/sync_plan.h"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

namespace mscclc::passes::schedule {

/// Writes the blocks of a plan one after the other; see sync_plan.h.
class BlockWriter {
public:
  BlockWriter(ir::Program &program, const ir::Movement &movement, const SyncPlan &plan, const Channels &channels)
      : program_(program), movement_(movement), plan_(plan), channels_(channels),
        remoteIds_(3 * program.ranks.size(), ir::none) {}

  /// Writes the block of agent `agent`, which does `groups`. Must be called for all agents of a rank, one after the
  /// other.
  void write(std::uint32_t agent, const std::vector<Group> &groups);

private:
  static constexpr std::size_t numTypes = static_cast<std::size_t>(ir::ChannelType::Switch) + 1;

  void reserve(std::span<const Group> groups);
  void writeGroups(const std::vector<Group> &groups);
  static bool endsApart(std::span<const Group> groups);
  void writeLoop(std::span<const Group> groups);
  void writeGroup(const Group &group, bool entries, bool rest);
  void writeNodes(const Group &group);
  void writePuts();
  void writeFlushes();
  void tell(const Sync &sync, bool waits, ir::DataSync around);
  void execute(const ir::Move &statement);
  void executeRemote(const ir::Move &statement);
  void executeInSwitch(const ir::Move &statement);
  bool isSignalling(std::uint32_t put) const { return std::ranges::binary_search(signalling_, put); }

  ir::LocId locOfGroup(const Group &group) const;
  ir::LocId locOf(const Sync &sync) const { return movement_.statements[sync.statement].loc; }
  ir::Chunk local(const ir::RankChunk &place) const;
  ir::Chunk remote(const ir::RankChunk &place, ir::ChannelType type);
  void useChannel(ir::ChannelType type, std::uint32_t id);

  ir::Program &program_;
  const ir::Movement &movement_;
  const SyncPlan &plan_;
  const Channels &channels_;
  std::uint32_t agent_ = 0, rank_ = 0;
  ir::ThreadBlock *block_ = nullptr;
  std::vector<ir::Chunk> srcs_;                                  ///< the sources of the current operation
  std::vector<std::uint32_t> signalling_;                        ///< puts with a signal in the current group, sorted
  std::vector<std::uint32_t> puts_;                              ///< the current run of a port's puts
  bool flushesPuts_ = true;                                      ///< true: the current run of puts is flushed at once
  std::vector<std::pair<std::uint32_t, ir::LocId>> flushedLate_; ///< port channels to flush at the end of the block
  std::vector<ir::ResourceUse> channelsOfBlock_, remotesOfBlock_;
  std::vector<std::uint32_t> remoteIds_; ///< [rank][buffer]: number among the remote buffers of rank_
  std::array<ir::StampSet, numTypes> namedChannels_, namedRemotes_; ///< [channel type]: entries of the block's tables
};

} // namespace mscclc::passes::schedule
