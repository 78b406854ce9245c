// A set of integer ranges that answers "does any of them meet this one?".
//
// The set consists of sorted runs of doubling size. Each is a flat list of disjoint ranges. Insertion costs O(log n)
// amortised in any order, and a query costs O(log² n). clear() keeps the memory. Ranges that touch are merged, so the
// usual walk through neighbouring chunks remains a single range. The first run is stored in the set itself, so small
// sets allocate nothing.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace mscclc::passes {

class IntervalSet {
public:
  /// Adds [begin, end).
  void insert(std::uint64_t begin, std::uint64_t end);
  /// Removes [begin, end).
  void erase(std::uint64_t begin, std::uint64_t end) {
    if (!empty() && begin < end)
      eraseFrom(begin, end);
  }
  /// True if a range of the set overlaps [begin, end).
  bool meets(std::uint64_t begin, std::uint64_t end) const { return !empty() && begin < end && anyMeets(begin, end); }
  void clear();

private:
  struct Range {
    std::uint64_t begin, end;
  };
  using Run = std::vector<Range>;
  static constexpr std::size_t firstRun = 16;

  bool empty() const { return numRecent_ == 0 && used_ == 0; }
  bool anyMeets(std::uint64_t begin, std::uint64_t end) const;
  void eraseFrom(std::uint64_t begin, std::uint64_t end);
  void spill();
  static void unite(std::span<const Range> a, std::span<const Range> b, Run &out);

  std::array<Range, firstRun> recent_; // the first run; never full between calls
  std::size_t numRecent_ = 0;
  std::vector<Run> runs_; // runs_[i] has less than firstRun << (i + 1) ranges
  std::size_t used_ = 0;  // the runs from this one on are empty
  Run merged_;
};

} // namespace mscclc::passes
