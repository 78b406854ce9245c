#include "backend-json/block_reader.h"

#include "backend-json/plan_fields.h"

#include <algorithm>

namespace mscclc::json {

using namespace ir;

// ---- entries of tables ----

Expected TableEntryReader::several(std::vector<ResourceUse> &table) {
  table_ = &table;
  return list(*this);
}

void TableEntryReader::begin(std::size_t) {
  ids_.clear();
}

Expected TableEntryReader::field(std::size_t k) {
  return k == 0 ? word<ChannelType::Memory>(types_, type_) : numbers(ids_);
}

void TableEntryReader::end(const ReadObject &object) {
  if (!object.clean)
    return;
  if (std::any_of(table_->begin(), table_->end(), [&](const ResourceUse &use) { return use.type == type_; }))
    plan_.in.error(diag::listed_twice, object.begin, {"channel type", toString(type_)});
  if (ids_.empty())
    plan_.in.error(diag::empty_entry, object.begin);
  for (const std::uint32_t id : ids_)
    table_->push_back({type_, id});
}

// ---- blocks ----

BlockReader::BlockReader(PlanContext &plan)
    : ObjectReader({blockFields}), plan_(plan), bodyOps_(plan, block_, nullptr), ops_(plan, block_, &bodyOps_),
      channels_(plan, {channelRefFields}, channelWords), remoteBuffers_(plan, {remoteRefFields}, pointToPointWords) {}

Expected BlockReader::several(std::vector<ThreadBlock> &blocks) {
  blocks_ = &blocks;
  ids_.clear();
  given_.clear();
  return list(*this);
}

void BlockReader::begin(std::size_t) {
  const auto index = static_cast<std::uint32_t>(ids_.size());
  loc_ = plan_.sources.addElement(plan_.gpuLoc, plan_.sources.addLabel(nameOf(GpuField::Blocks)), index);
  ids_.push_back(0);
  block_.ops.clear();
  block_.chunks.clear();
  block_.ids.clear();
  block_.channels.clear();
  block_.remoteBuffers.clear();
}

Expected BlockReader::field(std::size_t k) {
  switch (static_cast<BlockField>(k)) {
  case BlockField::Id:
    return WholeNumber{0, std::numeric_limits<std::uint32_t>::max(), [this](std::uint64_t id) {
                         ids_.back() = static_cast<std::uint32_t>(id);
                         given_.take(plan_.in, "thread block", id);
                       }};
  case BlockField::Ops:
    return ops_.several(loc_);
  case BlockField::Channels:
    return channels_.several(block_.channels);
  case BlockField::RemoteBuffers:
    return remoteBuffers_.several(block_.remoteBuffers);
  }
  return Ignored{};
}

void BlockReader::end(const ReadObject &) {
  blocks_->push_back(block_); // makes a copy, which has no spare capacity
}

} // namespace mscclc::json
