#include "ir/def_use.h"

#include <utility>

namespace mscclc::ir {

bool definesVersion(const ThreadBlock &block, const Op &op) {
  for (const Chunk &chunk : block.dsts(op))
    if (chunk.space != ChunkSpace::Remote)
      return true;
  return false;
}

VersionTracker::VersionTracker(const Program &program, std::uint32_t rank) : program_(program), rank_(rank) {
  for (auto &segments : segments_)
    segments.emplace(0, initialVersion);
}

MemoryRange VersionTracker::rangeOf(const Chunk &chunk, DataForm form) const {
  const Rank &rank = program_.ranks[rank_];
  const bool dangles = chunk.space == ChunkSpace::Switch && chunk.id >= rank.switchChannels.size();
  if (chunk.space == ChunkSpace::Remote || dangles)
    return {};
  return memoryOf(program_, rank_, bufferOf(rank, chunk), chunk.index, chunk.size, form);
}

bool VersionTracker::see(const Op &op, std::uint32_t index, const Chunk &chunk, std::size_t limit,
                         std::vector<Version> &out) const {
  const MemoryRange range = rangeOf(chunk, formOfSource(op, index));
  if (range.empty())
    return true;
  const auto &segments = segments_[static_cast<std::size_t>(range.buffer)];
  const std::size_t start = out.size();
  for (auto it = std::prev(segments.upper_bound(range.begin)); it != segments.end() && it->first < range.end; ++it) {
    if (out.size() != start && out.back() == it->second)
      continue;
    if (out.size() - start == limit)
      return false;
    out.push_back(it->second);
  }
  return true;
}

void VersionTracker::define(const ThreadBlock &block, const Op &op, Version version) {
  const auto dsts = block.dsts(op);
  for (std::uint32_t i = 0; i < dsts.size(); ++i) {
    const MemoryRange range = rangeOf(dsts[i], formOfDestination(op.kind, i));
    if (range.empty())
      continue;
    auto &segments = segments_[static_cast<std::size_t>(range.buffer)];
    const auto last = std::prev(segments.upper_bound(range.end)); // the segment that holds range.end
    const Version beyond = last->second;
    const bool endIsBegin = last->first == range.end;
    const auto [first, isNew] = segments.insert_or_assign(range.begin, version);
    // Erase the segments that begin inside the range. The one that reaches beyond its end continues there.
    segments.erase(std::next(first), endIsBegin ? last : segments.lower_bound(range.end));
    if (!endIsBegin)
      segments.emplace_hint(std::next(first), range.end, beyond);
  }
}

BlockVersions computeVersions(const Program &program, std::uint32_t rank, std::uint32_t block) {
  const ThreadBlock &tb = program.ranks[rank].blocks[block];
  VersionTracker tracker(program, rank);
  BlockVersions result;
  result.firstOperand.reserve(tb.ops.size() + 1);
  result.firstSeen.reserve(tb.chunks.size() + 1);
  result.firstUse.assign(tb.ops.size() + 1, 0);
  for (std::uint32_t i = 0; i < tb.ops.size(); ++i) {
    const Op &op = tb.ops[i];
    result.firstOperand.push_back(static_cast<std::uint32_t>(result.firstSeen.size()));
    const auto srcs = tb.srcs(op);
    for (std::uint32_t s = 0; s < srcs.size(); ++s) {
      result.firstSeen.push_back(static_cast<std::uint32_t>(result.seen.size()));
      tracker.see(op, s, srcs[s], ~std::size_t{0}, result.seen);
    }
    result.firstSeen.insert(result.firstSeen.end(), op.numDsts, static_cast<std::uint32_t>(result.seen.size()));
    tracker.define(tb, op, i);
  }
  result.firstOperand.push_back(static_cast<std::uint32_t>(result.firstSeen.size()));
  result.firstSeen.push_back(static_cast<std::uint32_t>(result.seen.size()));

  // Sorts uses by counting: counts, their prefix sums, then each use at its place. A source that sees a version twice,
  // with another one in between, is one use.
  constexpr std::uint32_t noSlot = ~std::uint32_t{0};
  std::vector<std::uint32_t> lastSlot;
  const auto forEachUse = [&](auto &&visit) {
    lastSlot.assign(tb.ops.size(), noSlot);
    for (std::uint32_t i = 0; i < tb.ops.size(); ++i)
      for (std::uint32_t s = 0; s < tb.ops[i].numSrcs; ++s)
        for (const Version v : result.seenBy(i, s))
          if (const std::uint32_t slot = result.firstOperand[i] + s;
              v != initialVersion && std::exchange(lastSlot[v], slot) != slot)
            visit(v, BlockVersions::Use{i, s});
  };
  forEachUse([&](Version v, BlockVersions::Use) { ++result.firstUse[v]; });
  std::uint32_t total = 0;
  for (std::uint32_t &count : result.firstUse)
    total += std::exchange(count, total);
  result.uses.resize(total);
  std::vector<std::uint32_t> next = result.firstUse;
  forEachUse([&](Version v, BlockVersions::Use use) { result.uses[next[v]++] = use; });
  return result;
}

} // namespace mscclc::ir
