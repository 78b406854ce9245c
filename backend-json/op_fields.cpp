#include "backend-json/op_fields.h"

#include "backend-json/plan_schema.h"

#include <algorithm>

namespace mscclc::json {

using namespace ir;

namespace {

bool sameChunk(const Rank &left, const Chunk &l, const Rank &right, const Chunk &r) {
  if (l.space != r.space || l.index != r.index || l.size != r.size)
    return false;
  if (l.space != ChunkSpace::Remote)
    return l.id == r.id;
  const RemoteBuffer &a = left.remoteBuffers[l.id], &b = right.remoteBuffers[r.id];
  return a.rank == b.rank && a.buffer == b.buffer;
}

bool sameChunks(const Rank &left, std::span<const Chunk> l, const Rank &right, std::span<const Chunk> r) {
  return std::equal(l.begin(), l.end(), r.begin(), r.end(),
                    [&](const Chunk &a, const Chunk &b) { return sameChunk(left, a, right, b); });
}

/// Returns the ids that a plan has for the operation. They are sorted if their order has no meaning.
std::vector<std::uint32_t> printedIds(const PlacedOp &at) {
  if (!isSemaphoreOp(at.op.kind) && !signalsThroughSwitch(at.op.kind) && !hasChannelIds(at.op.kind, at.op.channelType))
    return {};
  const auto ids = at.block.idsOf(at.op);
  std::vector<std::uint32_t> out(ids.begin(), ids.end());
  if (channelsAreASet(at.op.kind))
    std::sort(out.begin(), out.end());
  return out;
}

bool sameIds(const PlacedOp &left, const PlacedOp &right) {
  const auto l = left.block.idsOf(left.op), r = right.block.idsOf(right.op);
  return std::equal(l.begin(), l.end(), r.begin(), r.end()) || printedIds(left) == printedIds(right);
}

std::string show(const Rank &rank, const Chunk &chunk) {
  std::string text;
  switch (chunk.space) {
  case ChunkSpace::Remote: {
    const RemoteBuffer &remote = rank.remoteBuffers[chunk.id];
    text = "rank " + std::to_string(remote.rank) + "'s " + std::string(toString(remote.buffer));
    break;
  }
  case ChunkSpace::Switch:
    text = "switch channel " + std::to_string(chunk.id);
    break;
  case ChunkSpace::Input:
  case ChunkSpace::Output:
  case ChunkSpace::Scratch:
    text = toString(static_cast<BufferKind>(chunk.space));
  }
  return text + "[" + std::to_string(chunk.index) + ":" + std::to_string(std::uint64_t{chunk.index} + chunk.size) + "]";
}

/// Returns the elements of a list in words. Of a long list, returns the first elements and the number of all.
std::string showList(std::size_t count, const auto &element) {
  constexpr std::size_t shown = 8;
  std::string text = "[";
  for (std::size_t i = 0; i < std::min(count, shown); ++i)
    text += (i == 0 ? "" : ", ") + element(i);
  if (count > shown)
    text += ", ... (" + std::to_string(count) + " in all)";
  return text + "]";
}

std::string show(const std::vector<std::uint32_t> &ids) {
  return showList(ids.size(), [&](std::size_t i) { return std::to_string(ids[i]); });
}

std::string show(const Rank &rank, std::span<const Chunk> chunks) {
  return showList(chunks.size(), [&](std::size_t i) { return show(rank, chunks[i]); });
}

std::string showGroup(const Op &op) {
  return op.groupSize == 0 ? "none" : "slice " + std::to_string(op.groupIndex) + " of " + std::to_string(op.groupSize);
}

/// Compares the sources, or the destinations, of two operations: one by one if there are equally many, otherwise as a
/// whole.
void compareOperands(std::vector<FieldDifference> &out, const std::string &field, const Rank &left,
                     std::span<const Chunk> l, const Rank &right, std::span<const Chunk> r) {
  if (l.size() != r.size()) {
    out.push_back({field, show(left, l), show(right, r)});
    return;
  }
  for (std::size_t i = 0; i < l.size(); ++i)
    if (!sameChunk(left, l[i], right, r[i]))
      out.push_back({field + "[" + std::to_string(i) + "]", show(left, l[i]), show(right, r[i])});
}

} // namespace

bool sameOp(const PlacedOp &left, const PlacedOp &right) {
  const Op &l = left.op, &r = right.op;
  return l.kind == r.kind && l.channelType == r.channelType && l.groupIndex == r.groupIndex &&
         l.groupSize == r.groupSize && l.imm == r.imm && l.count == r.count && l.sync == r.sync &&
         l.firstAfter == r.firstAfter && (l.reduceOp == r.reduceOp || !reduces(l.kind)) &&
         sameChunks(left.rank, left.block.srcs(l), right.rank, right.block.srcs(r)) &&
         sameChunks(left.rank, left.block.dsts(l), right.rank, right.block.dsts(r)) && sameIds(left, right);
}

std::vector<FieldDifference> differingFields(const PlacedOp &left, const PlacedOp &right) {
  const Op &l = left.op, &r = right.op;
  std::vector<FieldDifference> out;
  const auto compare = [&](const char *field, const auto &a, const auto &b, const auto &text) {
    if (a != b)
      out.push_back({field, text(a), text(b)});
  };
  const auto number = [](std::uint64_t value) { return std::to_string(value); };
  const auto word = [](auto value) { return std::string(toString(value)); };
  const auto list = [](const std::vector<std::uint32_t> &ids) { return show(ids); };
  const bool loop = l.kind == OpKind::Pipeline;
  compare(loop ? "iter_context.unit_size" : "barrier_id", l.imm, r.imm, number);
  compare(loop ? "iter_context.num_chunks" : "num_threadblocks", l.count, r.count, number);
  compareOperands(out, "src_buff", left.rank, left.block.srcs(l), right.rank, right.block.srcs(r));
  compareOperands(out, "dst_buff", left.rank, left.block.dsts(l), right.rank, right.block.dsts(r));
  compare(isSemaphoreOp(l.kind)          ? "semaphore_ids"
          : signalsThroughSwitch(l.kind) ? "switch_channel_id"
                                         : "channel_ids",
          printedIds(left), printedIds(right), list);
  compare("channel_type", l.channelType, r.channelType, word);
  if (reduces(l.kind))
    compare("reduce_op", l.reduceOp, r.reduceOp, word);
  compare("first_after", l.firstAfter, r.firstAfter, number);
  compare("tbg_info", showGroup(l), showGroup(r), [](const std::string &text) { return text; });
  compare("data sync", l.sync, r.sync, [](DataSync sync) { return std::to_string(static_cast<unsigned>(sync)); });
  return out;
}

} // namespace mscclc::json
