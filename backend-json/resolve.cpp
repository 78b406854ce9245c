#include "backend-json/block_tables.h"
#include "backend-json/plan_reader.h"
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

} // namespace

/// Turns the indices in all operations of `rank`, whose gpu stands at `gpu`, from the block's into the rank's own.
/// Only what this needs is checked; the structural checker looks at the rest.
void PlanReader::resolve(Rank &rank, const JsonPath &gpu) {
  for (std::size_t i = 0; i < rank.blocks.size() && !full(); ++i) {
    const JsonPath path = gpu / "threadblocks" / i;
    if (resolveTables(rank, rank.blocks[i], path))
      resolveOps(rank, rank.blocks[i], path);
  }
}

/// Checks a block's tables against the rank's lists and spreads them by type.
bool PlanReader::resolveTables(const Rank &rank, const ThreadBlock &block, const JsonPath &path) {
  const std::size_t errorsBefore = numErrors();
  for (const bool remote : {false, true}) {
    const auto &table = remote ? block.remoteBuffers : block.channels;
    auto &byType = remote ? remoteTables_ : channelTables_;
    for (auto &ids : byType)
      ids.clear();
    const TableTypes types = typesOf(table);
    for (std::size_t entry = 0; entry < types.count; ++entry) {
      const ChannelType type = types.types[entry];
      const std::string what = remote ? "remote buffer" : channelsOfType(type);
      const std::size_t count = remote ? rank.remoteBuffers.size() : channelsOf(rank, type);
      forEachOfType(table, type, [&](std::uint32_t position, std::uint32_t id) {
        byType[index(type)].push_back(id);
        if (id < count || full())
          return;
        errorAt(remote ? path / "remote_buffer_refs" / entry / "remote_buffer_ids" / position
                       : path / "channels" / entry / "channel_ids" / position,
                diag::reference_out_of_range, {what, id, "the gpu", plural(count, what)});
      });
    }
  }
  return numErrors() == errorsBefore;
}

void PlanReader::resolveOps(const Rank &rank, ThreadBlock &block, const JsonPath &path) {
  const JsonPath list = path / "ops";
  for (std::size_t i = 0, listed = 0; i < block.ops.size() && !full(); ++i, ++listed) {
    const Op &op = block.ops[i];
    if (op.kind != OpKind::Pipeline) {
      resolveOp(rank, block, op, list, listed);
      continue;
    }
    const JsonPath body = list / listed / "ops";
    for (std::size_t k = 0; k < op.bodySize; ++k)
      resolveOp(rank, block, block.ops[i + 1 + k], body, k);
    i += op.bodySize;
  }
}

/// Resolves one operation, the `position`-th of those at `list`.
void PlanReader::resolveOp(const Rank &rank, ThreadBlock &block, const Op &op, const JsonPath &list,
                           std::size_t position) {
  const auto opPath = [&] { return list / position; };
  // Paths are made for errors only.
  const auto resolveId = [&](std::uint32_t &id, const std::vector<std::uint32_t> &table, std::string_view what,
                             auto path) {
    if (id < table.size())
      id = table[id];
    else
      errorAt(path(), diag::reference_out_of_range, {what, id, "the thread block", plural(table.size(), what)});
  };

  const auto ids = block.idsOf(op);
  for (std::size_t i = 0; i < ids.size() && !full(); ++i) {
    if (isSemaphoreOp(op.kind)) {
      if (ids[i] >= rank.semaphores.size())
        errorAt(opPath() / "semaphore_ids" / i, diag::reference_out_of_range,
                {"semaphore", ids[i], "the gpu", plural(rank.semaphores.size(), "semaphore")});
    } else if (hasChannelIds(op.kind, op.channelType)) {
      resolveId(ids[i], channelTables_[index(op.channelType)], channelsOfType(op.channelType),
                [&] { return opPath() / "channel_ids" / i; });
    }
  }

  const auto operands = block.operands(op);
  for (std::size_t i = 0; i < operands.size() && !full(); ++i) {
    Chunk &chunk = operands[i];
    const auto chunkPath = [&] {
      return i < op.numSrcs ? opPath() / "src_buff" / i : opPath() / "dst_buff" / (i - op.numSrcs);
    };
    if (op.kind == OpKind::SwitchReduce && i == 0) {
      resolveSwitchRange(rank, ids[0], chunk, list, position);
    } else if (chunk.space == ChunkSpace::Remote) {
      if (op.channelType == ChannelType::Memory || op.channelType == ChannelType::Port)
        resolveId(chunk.id, remoteTables_[index(op.channelType)], "remote buffer",
                  [&] { return chunkPath() / "buffer_id"; });
      else
        errorAt(chunkPath(), diag::remote_chunk_without_channel);
    } else if (chunk.space == ChunkSpace::Switch) {
      resolveId(chunk.id, channelTables_[index(ChannelType::Switch)], "switch channel",
                [&] { return chunkPath() / "switch_channel_id"; });
      if (opShapes[static_cast<std::size_t>(op.kind)].ids == IdRule::OneSwitch && ids.size() == 1)
        ids[0] = chunk.id;
    }
  }
}

/// A switch reduce names its buffer and its channel: both must say the same.
void PlanReader::resolveSwitchRange(const Rank &rank, std::uint32_t channel, Chunk &chunk, const JsonPath &list,
                                    std::size_t position) {
  chunk.id = channel;
  if (channel >= rank.switchChannels.size())
    return; // reported with the channel
  const BufferKind buffer = rank.switchChannels[channel].buffer;
  if (chunk.space != spaceOf(buffer))
    errorAt(list / position / "buffer_type", diag::switch_buffer_differs,
            {bufferLetter(static_cast<BufferKind>(chunk.space)), channel, bufferLetter(buffer)});
  chunk.space = ChunkSpace::Switch;
}

} // namespace mscclc::json
