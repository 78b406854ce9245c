#include "backend-json/gpu_reader.h"

#include "backend-json/check_ids.h"
#include "backend-json/resolve.h"

namespace mscclc::json {

using namespace ir;

namespace {

enum GpuField { GpuId, InputChunks, OutputChunks, ScratchChunks, Blocks, Channels, RemoteBuffers, Semaphores };
constexpr std::string_view gpuFields[] = {field_name::id,     "input_chunks",       "output_chunks",  "scratch_chunks",
                                          field_name::blocks, field_name::channels, "remote_buffers", "semaphores"};

enum ChannelField { TypeOfChannel, ConnectedTo, BufferType, RankGroups };
constexpr std::string_view channelFields[] = {"channel_type", "connected_to", "buffer_type", field_name::rankGroups};
constexpr std::uint32_t pointToPointOnly = 1u << ConnectedTo, switchOnly = 1u << BufferType | 1u << RankGroups;

constexpr std::string_view groupFields[] = {"size", "ranks"};

enum RemoteField { RemoteRank, RemoteType, AccessTypes };
constexpr std::string_view remoteFields[] = {"rank", "type", "access_channel_types"};

constexpr std::string_view semaphoreFields[] = {"init_value"};

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
    if (const auto place = in.find(gpu, gpu.path / field_name::id))
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
  case TypeOfChannel:
    return word<ChannelType::Memory>(channelWords, type_.emplace());
  case ConnectedTo:
    return list([this] { return plan_.rank(peers_.emplace_back()); });
  case BufferType:
    return word(bufferWords, channel_.buffer);
  case RankGroups:
    return list(group_);
  }
  return Ignored{};
}

/// True if a channel of this type has these fields.
bool ChannelReader::fieldsFit(const ReadObject &object) {
  const std::uint32_t wanted = *type_ == ChannelType::Switch ? switchOnly : pointToPointOnly;
  const std::size_t errorsBefore = plan_.in.numErrors();
  for (std::size_t i = 0; i < std::size(channelFields); ++i) {
    const std::uint32_t bit = 1u << i;
    if (i != TypeOfChannel && (wanted & bit) != (object.fields & bit))
      plan_.in.error((wanted & bit) != 0 ? diag::missing_field : diag::unknown_field, object.begin, {channelFields[i]});
  }
  return plan_.in.numErrors() == errorsBefore;
}

void ChannelReader::end(const ReadObject &object) {
  if ((object.fields >> RankGroups & 1) != 0 && numGroups_ != 1)
    plan_.in.error(diag::one_group_only, plan_.in.path() / field_name::rankGroups, object.begin, {numGroups_});
  if (!object.clean || !fieldsFit(object))
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

ChannelReader::GroupReader::GroupReader(ChannelReader &channel) : ObjectReader({groupFields}), channel_(channel) {}

void ChannelReader::GroupReader::begin(std::size_t) {
  ++channel_.numGroups_;
  channel_.channel_.ranks.clear();
}

Expected ChannelReader::GroupReader::field(std::size_t k) {
  if (k == 0)
    return number(size_);
  return list([this] { return channel_.plan_.rank(channel_.channel_.ranks.emplace_back()); });
}

void ChannelReader::GroupReader::end(const ReadObject &object) {
  const std::size_t numRanks = channel_.channel_.ranks.size();
  if (object.clean && size_ != numRanks)
    channel_.plan_.in.error(diag::group_size_differs, object.begin, {size_, plural(numRanks, "rank")});
}

// ---- remote buffers ----

RemoteBufferReader::RemoteBufferReader(PlanContext &plan) : ObjectReader({remoteFields}), plan_(plan) {}

Expected RemoteBufferReader::several(Rank &rank) {
  rank_ = &rank;
  return list(*this);
}

void RemoteBufferReader::begin(std::size_t) {
  remote_ = {};
}

Expected RemoteBufferReader::field(std::size_t k) {
  switch (static_cast<RemoteField>(k)) {
  case RemoteRank:
    return plan_.rank(remote_.rank);
  case RemoteType:
    return word(bufferWords, remote_.buffer);
  case AccessTypes:
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
  plan_.gpuLoc = plan_.sources.addElement(plan_.planLoc, plan_.sources.addLabel(field_name::gpus), index);
  plan_.gpu = {plan_.in.path(), at};
  plan_.gpuId.reset();
  ids_.push_back(0);
  places_.push_back(at);
  rank_ = {};
}

Expected GpuReader::field(std::size_t k) {
  switch (static_cast<GpuField>(k)) {
  case GpuId:
    return WholeNumber{0, std::numeric_limits<std::uint32_t>::max(), [this](std::uint64_t id) {
                         ids_.back() = static_cast<std::uint32_t>(id);
                         plan_.gpuId = id;
                       }};
  case InputChunks:
    return number(rank_.inputChunks);
  case OutputChunks:
    return number(rank_.outputChunks);
  case ScratchChunks:
    return number(rank_.scratchChunks);
  case Blocks:
    return blocks_.several(rank_.blocks);
  case Channels:
    return channels_.several(rank_);
  case RemoteBuffers:
    return remoteBuffers_.several(rank_);
  case Semaphores:
    return list(semaphore_);
  }
  return Ignored{};
}

void GpuReader::end(const ReadObject &object) {
  if (object.clean && resolve(rank_, plan_.gpu, plan_.in))
    checkIds(blocks_.ids(), "thread block", [&](std::size_t i, const DiagInfo &info, const auto &args) {
      plan_.in.errorAt(plan_.gpu, plan_.gpu.path / field_name::blocks / i / field_name::id, info, args);
    });
  rank_.blocks.shrink_to_fit();
  ranks_->push_back(std::move(rank_));
}

} // namespace mscclc::json
