#include "backend-json/plan_reader.h"
#include "backend-json/plan_schema.h"
#include "ir/collectives.h"

#include <algorithm>
#include <functional>

namespace mscclc::json {

using namespace ir;

namespace {

constexpr auto pointToPointWords = std::span(channelWords).first(2);

enum PlanField {
  Name,
  CollectiveName,
  ProtocolName,
  Inplace,
  Root,
  ReuseResources,
  Gpus,
  Threads,
  DoubleScratch,
  Alignment,
  MinSize,
  MaxSize
};
constexpr std::string_view planFields[] = {"name",
                                           "collective",
                                           "protocol",
                                           "inplace",
                                           "root",
                                           "reuse_resources",
                                           "gpus",
                                           "num_threads_per_block",
                                           "use_double_scratch_buffer",
                                           "buffer_alignment",
                                           "min_message_size",
                                           "max_message_size"};

enum GpuField { GpuId, InputChunks, OutputChunks, ScratchChunks, Blocks, Channels, RemoteBuffers, Semaphores };
constexpr std::string_view gpuFields[] = {"id",           "input_chunks", "output_chunks",  "scratch_chunks",
                                          "threadblocks", "channels",     "remote_buffers", "semaphores"};

enum BlockField { BlockId, Ops, BlockChannels, RemoteRefs };
constexpr std::string_view blockFields[] = {"id", "ops", "channels", "remote_buffer_refs"};

enum ChannelField { TypeOfChannel, ConnectedTo, BufferType, RankGroups };
constexpr std::string_view channelFields[] = {"channel_type", "connected_to", "buffer_type", "rank_groups"};
constexpr std::uint32_t pointToPointOnly = 1u << ConnectedTo, switchOnly = 1u << BufferType | 1u << RankGroups;

constexpr std::string_view groupFields[] = {"size", "ranks"};
constexpr std::string_view remoteFields[] = {"rank", "type", "access_channel_types"};
constexpr std::string_view semaphoreFields[] = {"init_value"};
constexpr std::string_view channelRefFields[] = {"channel_type", "channel_ids"};
constexpr std::string_view remoteRefFields[] = {"access_channel_type", "remote_buffer_ids"};

} // namespace

std::optional<Program> PlanReader::read() {
  std::optional<Program> program(std::in_place);
  planLoc_ = sources_.addPlace(sources_.addFile(filename()), 1, 1);
  opsLabel_ = sources_.addLabel(blockFields[Ops]);
  readPlan(*program);
  program->sources = std::move(sources_);
  cursor_.atEnd();
  reportSyntax();
  if (numErrors() == 0)
    checkIds(gpuIds_, JsonPath() / planFields[Gpus], "gpu");
  // A plan does not state it; counts that the collective cannot have are for checkStructure to refuse.
  program->collective.chunkFactor = chunksOfShare(*program);
  const auto show = [&](const ProgramPlace &place) { return shownPlace(pathOf(*program, place)); };
  if (numErrors() != 0 || namesUnknownRank() || !checkStructure(*program, engine(), show))
    program.reset();
  return program;
}

/// Where the plan lists what is at `place` of the program read from it.
JsonPath PlanReader::pathOf(const Program &program, const ProgramPlace &place) const {
  JsonPath path;
  if (place.rank == ProgramPlace::none)
    return path;
  path = path / planFields[Gpus] / place.rank;
  if (place.block == ProgramPlace::none)
    return path;
  path = path / gpuFields[Blocks] / place.block;
  if (place.op == ProgramPlace::none)
    return path;
  const auto &ops = program.ranks[place.rank].blocks[place.block].ops;
  for (std::size_t i = 0, listed = 0; i < ops.size(); i += 1 + ops[i].bodySize, ++listed) {
    if (i == place.op)
      return path / blockFields[Ops] / listed;
    if (place.op <= i + ops[i].bodySize)
      return path / blockFields[Ops] / listed / blockFields[Ops] / (place.op - i - 1);
  }
  return path;
}

void PlanReader::readPlan(Program &program) {
  cursor_.peek();
  const std::size_t begin = cursor_.offset();
  const auto fields = object({planFields, 1u << Root}, [&](std::size_t field) {
    switch (field) {
    case Name:
      string(program.name);
      break;
    case CollectiveName:
      string(program.collective.name);
      break;
    case ProtocolName:
      word(std::span(protocolWords), program.protocol);
      break;
    case Inplace:
      boolean(program.collective.inplace);
      break;
    case Root:
      number(program.collective.root);
      break;
    case ReuseResources:
      boolean(program.reuseResources);
      break;
    case Gpus:
      array([&] { readGpu(program); });
      break;
    case Threads:
      positive(program.threadsPerBlock);
      break;
    case DoubleScratch:
      boolean(program.doubleScratch);
      break;
    case Alignment:
      number(program.bufferAlignment);
      break;
    case MinSize:
      number(program.minMessageSize);
      break;
    case MaxSize:
      number(program.maxMessageSize);
      break;
    }
  });
  const bool hasRoot = fields && (*fields & 1u << Root) != 0;
  const auto kind = namedCollective(program.collective.name, hasRoot);
  if (hasRoot && !kind)
    error(diag::unknown_field, begin, {planFields[Root]});
  program.collective.kind = kind.value_or(CollectiveKind::Custom);
}

/// The id of the gpu that comes next, wherever in the object it stands: chunks inside may name it.
std::uint64_t PlanReader::idAhead() {
  JsonCursor ahead = cursor_;
  if (ahead.peek() != JsonKind::Object)
    return rankLimit_;
  ahead.enterObject();
  for (std::string_view key; ahead.nextMember(key); ahead.skipValue()) {
    if (key != gpuFields[GpuId])
      continue;
    NumberFault fault;
    return ahead.peek() == JsonKind::Number ? ahead.wholeNumber(fault) : rankLimit_;
  }
  return rankLimit_;
}

void PlanReader::readGpu(Program &program) {
  const std::size_t errorsBefore = numErrors();
  const JsonPath path = path_;
  Rank &rank = program.ranks.emplace_back();
  gpuLoc_ =
      sources_.addElement(planLoc_, sources_.addLabel(planFields[Gpus]), static_cast<std::uint32_t>(gpuIds_.size()));
  std::uint32_t &id = gpuIds_.emplace_back();
  blockIds_.clear();
  gpuId_ = idAhead();
  object({gpuFields}, [&](std::size_t field) {
    switch (field) {
    case GpuId:
      number(id);
      break;
    case InputChunks:
      number(rank.inputChunks);
      break;
    case OutputChunks:
      number(rank.outputChunks);
      break;
    case ScratchChunks:
      number(rank.scratchChunks);
      break;
    case Blocks:
      array([&] { readBlock(rank); });
      rank.blocks.shrink_to_fit();
      break;
    case Channels:
      array([&] { readGpuChannel(rank); });
      break;
    case RemoteBuffers:
      array([&] { readRemoteBuffer(rank); });
      break;
    case Semaphores:
      array([&] {
        Semaphore &semaphore = rank.semaphores.emplace_back();
        object({semaphoreFields}, [&](std::size_t) { number(semaphore.initialValue); });
      });
      break;
    }
  });
  if (cursor_.failed() || numErrors() != errorsBefore)
    return;
  resolve(rank, path);
  if (numErrors() == errorsBefore)
    checkIds(blockIds_, path / gpuFields[Blocks], "thread block");
}

void PlanReader::readRank(std::uint32_t &out) {
  cursor_.peek();
  const std::size_t begin = cursor_.offset();
  if (!number(out))
    return;
  largestRank_ = std::max<std::uint64_t>(largestRank_, out);
  if (out >= rankLimit_)
    error(diag::rank_out_of_range, begin, {out, plural(rankLimit_, "gpu")});
}

void PlanReader::numberList(std::vector<std::uint32_t> &out) {
  array([&] {
    std::uint32_t value = 0;
    if (number(value))
      out.push_back(value);
  });
}

/// A list entry of all channels of one type, or one switch channel.
void PlanReader::readGpuChannel(Rank &rank) {
  cursor_.peek();
  const std::size_t begin = cursor_.offset();
  std::optional<ChannelType> type;
  std::vector<std::uint32_t> peers;
  SwitchChannel channel;
  std::size_t groups = 0;
  const auto fields = object({channelFields, pointToPointOnly | switchOnly}, [&](std::size_t field) {
    ChannelType named{};
    switch (field) {
    case TypeOfChannel:
      if (word(std::span(channelWords), named, ChannelType::Memory))
        type = named;
      break;
    case ConnectedTo:
      array([&] { readRank(peers.emplace_back()); });
      break;
    case BufferType:
      word(std::span(bufferWords), channel.buffer);
      break;
    case RankGroups:
      array([&] {
        channel.ranks.clear();
        readRankGroup(channel.ranks);
        ++groups;
      });
      if (groups != 1 && !cursor_.failed())
        error(diag::one_group_only, begin, {groups});
      break;
    }
  });
  if (!fields || !type || cursor_.failed())
    return;
  const std::uint32_t wanted = *type == ChannelType::Switch ? switchOnly : pointToPointOnly;
  for (std::size_t i = 0; i < std::size(channelFields); ++i) {
    const std::uint32_t bit = 1u << i;
    if (i != TypeOfChannel && (wanted & bit) != (*fields & bit))
      error((wanted & bit) != 0 ? diag::missing_field : diag::unknown_field, begin, {channelFields[i]});
  }
  if (*type == ChannelType::Switch) {
    rank.switchChannels.push_back(std::move(channel));
    return;
  }
  auto &list = *type == ChannelType::Port ? rank.portPeers : rank.memoryPeers;
  if (!list.empty())
    error(diag::listed_twice, begin, {"channel type", toString(*type)});
  rank.portChannelsFirst |= *type == ChannelType::Port && rank.memoryPeers.empty();
  list = std::move(peers);
  list.shrink_to_fit();
}

void PlanReader::readRankGroup(std::vector<std::uint32_t> &ranks) {
  cursor_.peek();
  const std::size_t begin = cursor_.offset();
  std::uint32_t size = 0;
  const std::size_t errorsBefore = numErrors();
  object({groupFields}, [&](std::size_t field) {
    if (field == 0)
      number(size);
    else
      array([&] { readRank(ranks.emplace_back()); });
  });
  if (numErrors() == errorsBefore && !cursor_.failed() && size != ranks.size())
    error(diag::group_size_differs, begin, {size, plural(ranks.size(), "rank")});
}

void PlanReader::readRemoteBuffer(Rank &rank) {
  RemoteBuffer &remote = rank.remoteBuffers.emplace_back();
  object({remoteFields}, [&](std::size_t field) {
    if (field == 0)
      readRank(remote.rank);
    else if (field == 1)
      word(std::span(bufferWords), remote.buffer);
    else
      array([&] {
        cursor_.peek();
        const std::size_t begin = cursor_.offset();
        ChannelType type{};
        if (!word(pointToPointWords, type, ChannelType::Memory))
          return;
        bool &via = type == ChannelType::Memory ? remote.viaMemory : remote.viaPort;
        if (via)
          error(diag::listed_twice, begin, {"access type", toString(type)});
        via = true;
      });
  });
}

void PlanReader::readBlock(Rank &rank) {
  blockLoc_ =
      sources_.addElement(gpuLoc_, sources_.addLabel(gpuFields[Blocks]), static_cast<std::uint32_t>(blockIds_.size()));
  listed_[0] = 0;
  std::uint32_t &id = blockIds_.emplace_back();
  block_.ops.clear();
  block_.chunks.clear();
  block_.ids.clear();
  block_.channels.clear();
  block_.remoteBuffers.clear();
  object({blockFields}, [&](std::size_t field) {
    switch (field) {
    case BlockId:
      number(id);
      break;
    case Ops:
      array([&] { readOp(0); });
      break;
    case BlockChannels:
      array([&] { readTableEntry({channelRefFields}, block_.channels, channelWords); });
      break;
    case RemoteRefs:
      array([&] { readTableEntry({remoteRefFields}, block_.remoteBuffers, pointToPointWords); });
      break;
    }
  });
  rank.blocks.push_back(block_); // a copy holds exactly what is needed
}

/// An entry of a block's table: ids of one type.
void PlanReader::readTableEntry(const ObjectSchema &schema, std::vector<ResourceUse> &table,
                                std::span<const std::string_view> types) {
  cursor_.peek();
  const std::size_t begin = cursor_.offset(), errorsBefore = numErrors(), first = table.size();
  ChannelType type = ChannelType::None;
  object(schema, [&](std::size_t field) {
    if (field == 0) {
      word(types, type, ChannelType::Memory);
      return;
    }
    array([&] {
      std::uint32_t id = 0;
      if (number(id))
        table.push_back({ChannelType::None, id});
    });
  });
  if (numErrors() != errorsBefore || cursor_.failed())
    return;
  if (std::any_of(table.begin(), table.begin() + static_cast<std::ptrdiff_t>(first),
                  [&](const ResourceUse &use) { return use.type == type; }))
    error(diag::listed_twice, begin, {"channel type", toString(type)});
  if (first == table.size())
    error(diag::empty_entry, begin);
  for (std::size_t i = first; i < table.size(); ++i)
    table[i].type = type;
}

void PlanReader::checkIds(const std::vector<std::uint32_t> &ids, const JsonPath &path, std::string_view what) {
  std::vector<bool> taken(ids.size());
  const std::size_t errorsBefore = numErrors();
  for (std::size_t i = 0; i < ids.size() && !full(); ++i) {
    if (ids[i] >= ids.size())
      errorAt(path / i / "id", diag::id_out_of_range, {what, ids[i], ids.size()});
    else if (taken[ids[i]])
      errorAt(path / i / "id", diag::duplicate_id, {what, ids[i]});
    else
      taken[ids[i]] = true;
  }
  const auto astray = std::adjacent_find(ids.begin(), ids.end(), std::greater<>());
  if (numErrors() == errorsBefore && astray != ids.end())
    errorAt(path / static_cast<std::size_t>(astray - ids.begin() + 1) / "id", diag::listed_out_of_order,
            {what, *(astray + 1), *astray});
}

} // namespace mscclc::json
