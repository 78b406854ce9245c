#include "ir/source_map.h"

#include <unordered_set>

namespace mscclc::ir {

std::size_t SourceMap::Hash::operator()(const Loc &loc) const {
  std::uint64_t h = (std::uint64_t{loc.file} << 32 | loc.line) * 0x9e3779b97f4a7c15u;
  h = (h ^ (h >> 29)) + (std::uint64_t{loc.caller} << 32 | loc.column);
  h *= 0xbf58476d1ce4e5b9u;
  return h ^ (h >> 32);
}

std::uint32_t SourceMap::addFile(std::string_view path) {
  const auto [it, isNew] = fileIndex_.try_emplace(std::string(path), static_cast<std::uint32_t>(files_.size()));
  if (isNew)
    files_.emplace_back(path);
  return it->second;
}

void SourceMap::setContents(std::uint32_t index, std::string text) {
  contents_[index] = std::move(text);
}

const std::string *SourceMap::contents(std::uint32_t index) const {
  const auto it = contents_.find(index);
  return it == contents_.end() ? nullptr : &it->second;
}

LocId SourceMap::intern(const Loc &loc) {
  const auto [it, isNew] = index_.try_emplace(loc, static_cast<LocId>(locs_.size()));
  if (isNew)
    locs_.push_back(loc);
  return it->second;
}

LocId SourceMap::addPlace(std::uint32_t file, std::uint32_t line, std::uint32_t column, LocId caller) {
  return intern({file, line, column, caller});
}

std::uint32_t SourceMap::addLabel(std::string_view label) {
  const auto [it, isNew] = labelIndex_.try_emplace(std::string(label), static_cast<std::uint32_t>(labels_.size()));
  if (isNew)
    labels_.emplace_back(label);
  return it->second;
}

LocId SourceMap::addElement(LocId holder, std::uint32_t label, std::uint32_t index) {
  locs_.push_back({elementFile, label, index, holder});
  return static_cast<LocId>(locs_.size() - 1);
}

LocId SourceMap::documentOf(LocId id) const {
  while (isElement(id))
    id = locs_[id].caller;
  return id;
}

std::string SourceMap::elementPath(LocId id) const {
  std::vector<LocId> steps;
  for (; isElement(id); id = locs_[id].caller)
    steps.push_back(id);
  std::string path = "$";
  for (; !steps.empty(); steps.pop_back())
    path += "." + labels_[locs_[steps.back()].line] + "[" + std::to_string(locs_[steps.back()].column) + "]";
  return path;
}

LocId SourceMap::merge(LocId first, LocId second) {
  if (first == second || second == noLoc)
    return first;
  if (first == noLoc)
    return second;
  // A loop merges the same place again and again, so it is enough to compare the last place of the chain.
  if (isMerge(first) && locs_[first].column == second)
    return first;
  return intern({mergedFile, first, second, noLoc});
}

LocId SourceMap::firstPlace(LocId id) const {
  while (id != noLoc && isMerge(id))
    id = locs_[id].line;
  return id;
}

std::vector<LocId> SourceMap::places(LocId id) const {
  std::vector<LocId> found;
  std::vector<LocId> open{id};
  std::unordered_set<LocId> seen; // contains merges too, so that a merge inside many other merges is visited once
  while (!open.empty()) {
    const LocId next = open.back();
    open.pop_back();
    if (next == noLoc || !seen.insert(next).second)
      continue;
    if (isMerge(next)) {
      open.push_back(locs_[next].column);
      open.push_back(locs_[next].line);
    } else {
      found.push_back(next);
    }
  }
  return found;
}

} // namespace mscclc::ir
