#include "ir/def_use.h"

#include <iterator>

namespace mscclc::ir {

std::string describe(std::span<const Version> versions, bool cut) {
  if (versions.empty())
    return "no version";
  std::string list;
  for (const Version version : versions)
    list += (list.empty() ? "" : ", ") + (version == initialVersion ? "in" : std::to_string(version));
  return versions.size() == 1 && !cut ? '%' + list : "%{" + list + (cut ? ", ..}" : "}");
}

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
    // Erase the segments that begin inside the range. The part of the last one that lies beyond the range stays a
    // segment.
    segments.erase(std::next(first), endIsBegin ? last : segments.lower_bound(range.end));
    if (!endIsBegin)
      segments.emplace_hint(std::next(first), range.end, beyond);
  }
}

} // namespace mscclc::ir
