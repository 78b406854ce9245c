// A set of integer ranges that answers "does any of them meet this one?".
//
// Kept as sorted runs of doubling size, each a flat vector of disjoint ranges: inserting costs O(log n) amortised
// whatever the order, asking O(log² n), and clearing keeps the memory. Ranges that touch become one, so the usual
// walk over neighbouring chunks stays a single range.
#pragma once

#include <cstdint>
#include <vector>

namespace mscclc::passes {

class IntervalSet {
public:
  /// Adds [begin, end).
  void insert(std::uint64_t begin, std::uint64_t end);
  /// Takes [begin, end) out.
  void erase(std::uint64_t begin, std::uint64_t end);
  /// True if a range of the set meets [begin, end).
  bool meets(std::uint64_t begin, std::uint64_t end) const;
  void clear();

private:
  struct Range {
    std::uint64_t begin, end;
  };
  using Run = std::vector<Range>;
  static constexpr std::size_t firstRun = 16;

  static void unite(const Run &a, const Run &b, Run &out);

  std::vector<Run> runs_; // runs_[i] holds at most firstRun << i ranges
  std::size_t used_ = 0;  // runs from this one on are empty
  Run merged_;
};

} // namespace mscclc::passes
