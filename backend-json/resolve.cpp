#include "backend-json/resolve.h"

#include "backend-json/block_tables.h"
#include "backend-json/plan_fields.h"
#include "backend-json/plan_schema.h"

namespace mscclc::json {

using namespace ir;

namespace {

constexpr std::size_t index(ChannelType type) {
  return static_cast<std::size_t>(type);
}

std::size_t channelsOf(const Rank &rank, ChannelType type) {
  return type == ChannelType::Switch ? rank.switchChannels.size() : rank.peers(type).size();
}

std::string channelsOfType(ChannelType type) {
  return std::string(toString(type)) + " channel";
}

class Resolver {
public:
  Resolver(Rank &rank, const ValueReader::Anchor &gpu, ValueReader &in) : rank_(rank), gpu_(gpu), in_(in) {}

  void run();

private:
  bool resolveTables(const ThreadBlock &block, const JsonPath &path);
  void resolveOps(ThreadBlock &block, const JsonPath &path);
  void resolveOp(ThreadBlock &block, const Op &op, const JsonPath &list, std::size_t position);
  void resolveIds(std::span<std::uint32_t> ids, const Op &op, const JsonPath &list, std::size_t position);
  void resolveSwitchRange(std::uint32_t channel, Chunk &chunk, const JsonPath &list, std::size_t position);
  /// Replaces `id`, an index into `table`, by the entry at this index. `path` is called only for errors.
  template <typename Path>
  void lookUp(std::uint32_t &id, const std::vector<std::uint32_t> &table, std::string_view what, Path path) {
    if (id < table.size())
      id = table[id];
    else
      error(path(), diag::reference_out_of_range, {what, id, "the thread block", plural(table.size(), what)});
  }
  void error(const JsonPath &path, const DiagInfo &info, const std::vector<DiagArg> &args = {}) {
    in_.errorAt(gpu_, path, info, args);
  }

  Rank &rank_;
  const ValueReader::Anchor &gpu_;
  ValueReader &in_;
  /// The tables of the current block: ids by type of channel.
  std::vector<std::uint32_t> channelTables_[4], remoteTables_[4];
};

void Resolver::run() {
  for (std::size_t i = 0; i < rank_.blocks.size() && !in_.full(); ++i) {
    const JsonPath path = gpu_.path / nameOf(GpuField::Blocks) / i;
    if (resolveTables(rank_.blocks[i], path))
      resolveOps(rank_.blocks[i], path);
  }
}

/// Checks a block's tables against the rank's lists, and stores them by type.
bool Resolver::resolveTables(const ThreadBlock &block, const JsonPath &path) {
  const std::size_t errorsBefore = in_.numErrors();
  for (const bool remote : {false, true}) {
    const auto &table = remote ? block.remoteBuffers : block.channels;
    auto &byType = remote ? remoteTables_ : channelTables_;
    for (auto &ids : byType)
      ids.clear();
    const TableTypes types = typesOf(table);
    for (std::size_t entry = 0; entry < types.count; ++entry) {
      const ChannelType type = types.types[entry];
      const std::string what = remote ? "remote buffer" : channelsOfType(type);
      const std::size_t count = remote ? rank_.remoteBuffers.size() : channelsOf(rank_, type);
      forEachOfType(table, type, [&](std::uint32_t position, std::uint32_t id) {
        byType[index(type)].push_back(id);
        if (id < count || in_.full())
          return;
        error(remote ? path / nameOf(BlockField::RemoteBuffers) / entry / nameOf(RemoteRefField::Ids) / position
                     : path / nameOf(BlockField::Channels) / entry / nameOf(ChannelRefField::Ids) / position,
              diag::reference_out_of_range, {what, id, "the gpu", plural(count, what)});
      });
    }
  }
  return in_.numErrors() == errorsBefore;
}

void Resolver::resolveOps(ThreadBlock &block, const JsonPath &path) {
  const JsonPath list = path / nameOf(BlockField::Ops);
  for (std::size_t i = 0, listed = 0; i < block.ops.size() && !in_.full(); ++i, ++listed) {
    const Op &op = block.ops[i];
    if (op.kind != OpKind::Pipeline) {
      resolveOp(block, op, list, listed);
      continue;
    }
    const JsonPath body = list / listed / nameOf(op_field::Body);
    for (std::size_t k = 0; k < op.bodySize; ++k)
      resolveOp(block, block.ops[i + 1 + k], body, k);
    i += op.bodySize;
  }
}

/// Resolves one operation, which is at index `position` of the list of operations at path `list`.
void Resolver::resolveOp(ThreadBlock &block, const Op &op, const JsonPath &list, std::size_t position) {
  const auto ids = block.idsOf(op);
  resolveIds(ids, op, list, position);
  const auto operands = block.operands(op);
  for (std::size_t i = 0; i < operands.size() && !in_.full(); ++i) {
    Chunk &chunk = operands[i];
    const auto chunkPath = [&] {
      const JsonPath path = list / position;
      return i < op.numSrcs ? path / nameOf(op_field::SrcBuff) / i
                            : path / nameOf(op_field::DstBuff) / (i - op.numSrcs);
    };
    if (op.kind == OpKind::SwitchReduce && i == 0) {
      resolveSwitchRange(ids[0], chunk, list, position);
    } else if (chunk.space == ChunkSpace::Remote) {
      if (op.channelType == ChannelType::Memory || op.channelType == ChannelType::Port)
        lookUp(chunk.id, remoteTables_[index(op.channelType)], "remote buffer",
               [&] { return chunkPath() / nameOf(ChunkField::BufferId); });
      else
        error(chunkPath(), diag::remote_chunk_without_channel);
    } else if (chunk.space == ChunkSpace::Switch) {
      lookUp(chunk.id, channelTables_[index(ChannelType::Switch)], "switch channel",
             [&] { return chunkPath() / nameOf(ChunkField::SwitchChannelId); });
    }
  }
  if (opShapes[static_cast<std::size_t>(op.kind)].ids == IdRule::PerSwitch) {
    std::vector<std::uint32_t> named;
    addSwitchChannels(operands, named);
    std::copy_n(named.begin(), std::min(named.size(), ids.size()), ids.begin());
  }
}

void Resolver::resolveIds(std::span<std::uint32_t> ids, const Op &op, const JsonPath &list, std::size_t position) {
  for (std::size_t i = 0; i < ids.size() && !in_.full(); ++i) {
    if (isSemaphoreOp(op.kind)) {
      if (ids[i] >= rank_.semaphores.size())
        error(list / position / nameOf(op_field::SemaphoreIds) / i, diag::reference_out_of_range,
              {"semaphore", ids[i], "the gpu", plural(rank_.semaphores.size(), "semaphore")});
    } else if (signalsThroughSwitch(op.kind)) {
      lookUp(ids[i], channelTables_[index(ChannelType::Switch)], "switch channel",
             [&] { return list / position / nameOf(op_field::SwitchChannelId); });
    } else if (hasChannelIds(op.kind, op.channelType)) {
      lookUp(ids[i], channelTables_[index(op.channelType)], channelsOfType(op.channelType),
             [&] { return list / position / nameOf(op_field::ChannelIds) / i; });
    }
  }
}

/// Checks that the buffer of a switch reduce is the buffer of its channel. The plan names both.
void Resolver::resolveSwitchRange(std::uint32_t channel, Chunk &chunk, const JsonPath &list, std::size_t position) {
  chunk.id = channel;
  if (channel >= rank_.switchChannels.size())
    return; // reported as an error of the channel's id
  const BufferKind buffer = rank_.switchChannels[channel].buffer;
  if (chunk.space != spaceOf(buffer))
    error(list / position / nameOf(op_field::SwitchBuffer), diag::switch_buffer_differs,
          {bufferLetter(static_cast<BufferKind>(chunk.space)), channel, bufferLetter(buffer)});
  chunk.space = ChunkSpace::Switch;
}

} // namespace

bool resolve(Rank &rank, const ValueReader::Anchor &gpu, ValueReader &in) {
  const std::size_t errorsBefore = in.numErrors();
  Resolver(rank, gpu, in).run();
  return in.numErrors() == errorsBefore;
}

} // namespace mscclc::json
