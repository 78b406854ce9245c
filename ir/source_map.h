// Source locations of a program: files, places in them, call chains, and merged places of fused operations.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace mscclc::ir {

/// Index into a SourceMap's locations. Ids are dense and given in order of first use, so equal runs give equal ids.
using LocId = std::uint32_t;
inline constexpr LocId noLoc = 0;

/// A place or a merge of two locations.
struct Loc {
  std::uint32_t file = 0;   ///< index into SourceMap::files(); mergedFile for a merge
  std::uint32_t line = 0;   ///< 1-based; for a merge: first LocId
  std::uint32_t column = 0; ///< 1-based, in bytes; for a merge: second LocId
  LocId caller = noLoc;     ///< where the function that holds this place was called from
  friend bool operator==(const Loc &, const Loc &) = default;
};

class SourceMap {
public:
  static constexpr std::uint32_t mergedFile = ~std::uint32_t{0};

  /// Index of `path`, added if new.
  std::uint32_t addFile(std::string_view path);
  /// Keeps `text` as the contents of file `index`, so that excerpts need no disk (standard input, generated text).
  void setContents(std::uint32_t index, std::string text);

  /// Interns a place; `caller` is the call site through which it was reached.
  LocId addPlace(std::uint32_t file, std::uint32_t line, std::uint32_t column, LocId caller = noLoc);
  /// Interns the location of an operation made from two; either may be noLoc, and equal ones stay themselves.
  LocId merge(LocId first, LocId second);

  const Loc &get(LocId id) const { return locs_[id]; }
  bool isMerge(LocId id) const { return locs_[id].file == mergedFile; }
  /// The first plain place behind `id`, following merges; noLoc if there is none.
  LocId firstPlace(LocId id) const;
  /// All plain places behind `id`, in order, without repeats.
  std::vector<LocId> places(LocId id) const;
  std::size_t size() const { return locs_.size(); }

  const std::vector<std::string> &files() const { return files_; }
  /// Contents kept for file `index`, or null.
  const std::string *contents(std::uint32_t index) const;

private:
  struct Hash {
    std::size_t operator()(const Loc &loc) const;
  };
  LocId intern(const Loc &loc);

  std::vector<std::string> files_;
  std::unordered_map<std::string, std::uint32_t> fileIndex_; // path -> index into files_
  std::unordered_map<std::uint32_t, std::string> contents_;
  std::vector<Loc> locs_{Loc{}}; // id 0 is noLoc
  std::unordered_map<Loc, LocId, Hash> index_;
};

} // namespace mscclc::ir
