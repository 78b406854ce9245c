#include "backend-json/gpu_reader.h"

#include "backend-json/check_ids.h"
#include "backend-json/plan_fields.h"
#include "backend-json/resolve.h"

namespace mscclc::json {

using namespace ir;

namespace {

constexpr std::uint32_t pointToPointOnly = bitOf(ChannelField::ConnectedTo);
constexpr std::uint32_t switchOnly = bitOf(ChannelField::Buffer) | bitOf(ChannelField::RankGroups);

} // namespace

Expected PlanContext::rank(std::uint32_t &out) {
  return WholeNumber{0, std::numeric_limits<std::uint32_t>::max(), [this, &out](std::uint64_t rank) {
                       out = static_cast<std::uint32_t>(rank);
                       largestRank = std::max(largestRank, rank);
                       if (rank >= rankLimit)
                         in.error(diag::rank_out_of_range, {rank, plural(rankLimit, "gpu")});
                     }};
}

std::optional<std::uint64_t> PlanContext::idOfGpu() {
  if (!gpuId)
    if (const auto place = in.find(gpu, gpu.path / nameOf(GpuField::Id)))
      gpuId = in.numberAt(*place);
  return gpuId;
}

// ---- channels ----

ChannelReader::ChannelReader(PlanContext &plan)
    : ObjectReader({channelFields, pointToPointOnly | switchOnly}), plan_(plan), group_(*this) {}

Expected ChannelReader::several(Rank &rank) {
  rank_ = &rank;
  return list(*this);
}

void ChannelReader::begin(std::size_t) {
  type_.reset();
  peers_.clear();
  channel_ = {};
  numGroups_ = 0;
}

Expected ChannelReader::field(std::size_t k) {
  switch (static_cast<ChannelField>(k)) {
  case ChannelField::Type:
    return Word{channelWords, [this](std::size_t word) {
                  type_ = static_cast<ChannelType>(static_cast<std::size_t>(ChannelType::Memory) + word);
                }};
  case ChannelField::ConnectedTo:
    return list([this] { return plan_.rank(peers_.emplace_back()); });
  case ChannelField::Buffer:
    return word(bufferWords, channel_.buffer);
  case ChannelField::RankGroups:
    return list([this] {
      ++numGroups_;
      return Expected(&group_);
    });
  }
  return Ignored{};
}

/// True if a channel of this type has exactly these fields.
bool ChannelReader::fieldsFit(const ReadObject &object) {
  const std::uint32_t wanted = *type_ == ChannelType::Switch ? switchOnly : pointToPointOnly;
  const std::size_t errorsBefore = plan_.in.numErrors();
  for (std::size_t i = 0; i < std::size(channelFields); ++i) {
    const std::uint32_t bit = 1u << i;
    if (bit != bitOf(ChannelField::Type) && (wanted & bit) != (object.fields & bit))
      plan_.in.error((wanted & bit) != 0 ? diag::missing_field : diag::unknown_field, object.begin, {channelFields[i]});
  }
  return plan_.in.numErrors() == errorsBefore;
}

void ChannelReader::end(const ReadObject &object) {
  if ((object.fields & bitOf(ChannelField::RankGroups)) != 0 && numGroups_ != 1)
    plan_.in.error(diag::one_group_only, plan_.in.path() / nameOf(ChannelField::RankGroups), object.begin,
                   {numGroups_});
  if (!type_ || !fieldsFit(object) || !object.clean)
    return;
  if (*type_ == ChannelType::Switch) {
    rank_->switchChannels.push_back(channel_);
    return;
  }
  auto &peers = *type_ == ChannelType::Port ? rank_->portPeers : rank_->memoryPeers;
  if (!peers.empty())
    plan_.in.error(diag::listed_twice, object.begin, {"channel type", toString(*type_)});
  rank_->portChannelsFirst |= *type_ == ChannelType::Port && rank_->memoryPeers.empty();
  peers = peers_;
}

ChannelReader::GroupReader::GroupReader(ChannelReader &channel) : ObjectReader({rankGroupFields}), channel_(channel) {}

void ChannelReader::GroupReader::begin(std::size_t) {
  channel_.channel_.ranks.clear();
}

Expected ChannelReader::GroupReader::field(std::size_t k) {
  switch (static_cast<RankGroupField>(k)) {
  case RankGroupField::Size:
    return number(size_);
  case RankGroupField::Ranks:
    return list([this] { return channel_.plan_.rank(channel_.channel_.ranks.emplace_back()); });
  }
  return Ignored{};
}

void ChannelReader::GroupReader::end(const ReadObject &object) {
  const std::size_t numRanks = channel_.channel_.ranks.size();
  if (object.clean && size_ != numRanks)
    channel_.plan_.in.error(diag::group_size_differs, object.begin, {size_, plural(numRanks, "rank")});
}

// ---- remote buffers ----

RemoteBufferReader::RemoteBufferReader(PlanContext &plan) : ObjectReader({remoteBufferFields}), plan_(plan) {}

Expected RemoteBufferReader::several(Rank &rank) {
  rank_ = &rank;
  return list(*this);
}

void RemoteBufferReader::begin(std::size_t) {
  remote_ = {};
}

Expected RemoteBufferReader::field(std::size_t k) {
  switch (static_cast<RemoteBufferField>(k)) {
  case RemoteBufferField::Rank:
    return plan_.rank(remote_.rank);
  case RemoteBufferField::Buffer:
    return word(bufferWords, remote_.buffer);
  case RemoteBufferField::AccessTypes:
    return list([this] {
      return Expected(Word{pointToPointWords, [this](std::size_t word) {
                             addAccess(word == 0 ? ChannelType::Memory : ChannelType::Port);
                           }});
    });
  }
  return Ignored{};
}

void RemoteBufferReader::addAccess(ChannelType type) {
  bool &via = type == ChannelType::Memory ? remote_.viaMemory : remote_.viaPort;
  if (via)
    plan_.in.error(diag::listed_twice, {"access type", toString(type)});
  via = true;
}

void RemoteBufferReader::end(const ReadObject &) {
  rank_->remoteBuffers.push_back(remote_);
}

// ---- gpus ----

GpuReader::GpuReader(PlanContext &plan)
    : ObjectReader({gpuFields}), plan_(plan), blocks_(plan), channels_(plan), remoteBuffers_(plan),
      semaphore_({semaphoreFields},
                 [this](std::size_t) { return number(rank_.semaphores.emplace_back().initialValue); }) {}

Expected GpuReader::several(std::vector<Rank> &ranks) {
  ranks_ = &ranks;
  return list(*this);
}

void GpuReader::begin(std::size_t at) {
  const auto index = static_cast<std::uint32_t>(ids_.size());
  plan_.gpuLoc = plan_.sources.addElement(plan_.planLoc, plan_.sources.addLabel(nameOf(PlanField::Gpus)), index);
  plan_.gpu = {plan_.in.path(), at};
  plan_.gpuId.reset();
  ids_.push_back(0);
  places_.push_back(at);
  rank_ = {};
}

Expected GpuReader::field(std::size_t k) {
  switch (static_cast<GpuField>(k)) {
  case GpuField::Id:
    return WholeNumber{0, std::numeric_limits<std::uint32_t>::max(), [this](std::uint64_t id) {
                         ids_.back() = static_cast<std::uint32_t>(id);
                         plan_.gpuId = id;
                         given_.take(plan_.in, "gpu", id);
                       }};
  case GpuField::InputChunks:
    return number(rank_.inputChunks);
  case GpuField::OutputChunks:
    return number(rank_.outputChunks);
  case GpuField::ScratchChunks:
    return number(rank_.scratchChunks);
  case GpuField::Blocks:
    return blocks_.several(rank_.blocks);
  case GpuField::Channels:
    return channels_.several(rank_);
  case GpuField::RemoteBuffers:
    return remoteBuffers_.several(rank_);
  case GpuField::Semaphores:
    return list(semaphore_);
  }
  return Ignored{};
}

void GpuReader::end(const ReadObject &object) {
  if (object.clean && resolve(rank_, plan_.gpu, plan_.in))
    checkIds(blocks_.ids(), "thread block", [&](std::size_t i, const DiagInfo &info, const auto &args) {
      plan_.in.errorAt(plan_.gpu, plan_.gpu.path / nameOf(GpuField::Blocks) / i / nameOf(BlockField::Id), info, args);
    });
  rank_.blocks.shrink_to_fit();
  ranks_->push_back(std::move(rank_));
}

} // namespace mscclc::json
