// Writes thread blocks, from what each is to do.
#pragma once

#include "passes/schedule/channels.h"
#include "passes/schedule/sync_plan.h"

#include <initializer_list>
#include <span>

namespace mscclc::passes::schedule {

class BlockWriter {
public:
  BlockWriter(ir::Program &program, const ir::Movement &movement, const SyncPlan &plan, const Channels &channels)
      : program_(program), movement_(movement), plan_(plan), channels_(channels) {}

  /// Writes the block of agent `agent`.
  void write(std::uint32_t agent);

private:
  void writeGroup(const Group &group, bool entries, bool rest);
  void tell(const Sync &sync, bool waits, ir::DataSync around);
  void execute(const ir::Move &statement);
  void executeRemote(const ir::Move &statement);
  void executeInSwitch(const ir::Move &statement);

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
};

} // namespace mscclc::passes::schedule
