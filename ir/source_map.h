// Source locations of a program: places in files, call chains, elements of documents (plans), and merged places of
// fused operations.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace mscclc::ir {

/// Index into a SourceMap's locations. Ids are dense and in the order of first use, so equal runs give equal ids.
using LocId = std::uint32_t;
inline constexpr LocId noLoc = 0;

/// A place, a merge of two locations, or an element of a list in a document.
struct Loc {
  std::uint32_t file = 0;   ///< index into SourceMap::files(); mergedFile for a merge, elementFile for an element
  std::uint32_t line = 0;   ///< 1-based; for a merge: first LocId; for an element: index into SourceMap::labels()
  std::uint32_t column = 0; ///< 1-based, in bytes; for a merge: second LocId; for an element: its index
  LocId caller = noLoc;     ///< place: the call site of its function; element: the holder of its list
  friend bool operator==(const Loc &, const Loc &) = default;
};

class SourceMap {
public:
  static constexpr std::uint32_t mergedFile = ~std::uint32_t{0};
  static constexpr std::uint32_t elementFile = mergedFile - 1;

  /// Returns the index of `path`; adds it if it is new.
  std::uint32_t addFile(std::string_view path);
  /// Keeps `text` as the contents of file `index`, so that excerpts need no disk (standard input, generated text).
  void setContents(std::uint32_t index, std::string text);

  /// Returns the id of a place. `caller` is the call site through which the place was reached.
  LocId addPlace(std::uint32_t file, std::uint32_t line, std::uint32_t column, LocId caller = noLoc);
  /// Returns the location of an operation that was made of two operations. If both locations are equal, returns this
  /// location. If one is noLoc, returns the other one.
  LocId merge(LocId first, LocId second);

  /// Returns the index of `label`, the name of a list. Adds it if it is new.
  std::uint32_t addLabel(std::string_view label);
  /// Adds element `index` of the list `label` in `holder`. The holder is an element, or a place in a document's file,
  /// but no merge. Equal elements are not unified: documents are large, and their elements are all different.
  LocId addElement(LocId holder, std::uint32_t label, std::uint32_t index);

  const Loc &get(LocId id) const { return locs_[id]; }
  bool isMerge(LocId id) const { return locs_[id].file == mergedFile; }
  bool isElement(LocId id) const { return locs_[id].file == elementFile; }
  /// Returns the place in a file that contains element `id`. If `id` is a place, returns `id`.
  LocId documentOf(LocId id) const;
  /// Returns the path to element `id` from its document: "$.gpus[1].threadblocks[0]".
  std::string elementPath(LocId id) const;
  /// Returns the first place or element of `id` after following merges; noLoc if there is none.
  LocId firstPlace(LocId id) const;
  /// Returns all places and elements that `id` merges, in order, each once.
  std::vector<LocId> places(LocId id) const;
  std::size_t size() const { return locs_.size(); }

  const std::vector<std::string> &files() const { return files_; }
  const std::vector<std::string> &labels() const { return labels_; }
  /// Returns the contents kept for file `index`, or null.
  const std::string *contents(std::uint32_t index) const;

private:
  struct Hash {
    std::size_t operator()(const Loc &loc) const;
  };
  LocId intern(const Loc &loc);

  std::vector<std::string> files_, labels_;
  std::unordered_map<std::string, std::uint32_t> fileIndex_;  // path -> index into files_
  std::unordered_map<std::string, std::uint32_t> labelIndex_; // label -> index into labels_
  std::unordered_map<std::uint32_t, std::string> contents_;
  std::vector<Loc> locs_{Loc{}}; // id 0 is noLoc
  std::unordered_map<Loc, LocId, Hash> index_;
};

} // namespace mscclc::ir
