// A set of integer ranges that answers "does any of them meet this one?".
//
// Kept as sorted runs of doubling size, each a flat list of disjoint ranges: inserting costs O(log n) amortised
// whatever the order, asking O(log² n), and clearing keeps the memory. Ranges that touch become one, so the usual
// walk over neighbouring chunks stays a single range. The first run lies in the set itself: small sets allocate
// nothing.
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
  /// Takes [begin, end) out.
  void erase(std::uint64_t begin, std::uint64_t end) {
    if (!empty() && begin < end)
      eraseFrom(begin, end);
  }
  /// True if a range of the set meets [begin, end).
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
  std::vector<Run> runs_; // runs_[i] holds less than firstRun << (i + 1) ranges
  std::size_t used_ = 0;  // runs from this one on are empty
  Run merged_;
};

} // namespace mscclc::passes
