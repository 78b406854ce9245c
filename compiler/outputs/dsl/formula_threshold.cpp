// Numbers that jump once along the ranks, at a rank that depends on the iteration: slots that lack one of the ranks,
// and remainders beside other terms.
#include "compiler/outputs/dsl/formula.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

namespace mscclc::dsl {
namespace {

/// Fewer numbers say too little for a slope, a jump and its place.
constexpr std::size_t leastPoints = 6;

/// What the ranks of one iteration tell of where the jump is: behind `below`, and at `first` or before.
struct Bounds {
  std::int64_t below = -1;
  std::int64_t first = -1; ///< -1: the jump is past all of them
};

} // namespace

/// The rise along a variable that most points have; 0 if it is nowhere a whole number.
std::int64_t Space::usualSlope(const Variable &variable, std::span<const std::int64_t> values) const {
  std::map<std::int64_t, std::size_t> counts;
  for (std::size_t p = 0; p < points_; ++p)
    if (const std::uint32_t next = variable.next[p]; next != none)
      if (const std::int64_t run = variable.at[next] - variable.at[p]; (values[next] - values[p]) % run == 0)
        ++counts[(values[next] - values[p]) / run];
  if (counts.empty())
    return 0;
  const auto most = std::ranges::max_element(counts, {}, [](const auto &entry) { return entry.second; });
  return most->first;
}

/// The iterations' values of the loops' variables, and where the ranks of each jump. `isUp`: by point. Nothing if some
/// rank past a jump is as those before it.
static std::optional<std::map<std::vector<std::int64_t>, Bounds>>
boundsOf(const std::vector<std::vector<std::int64_t>> &loopsAt, const std::vector<std::int64_t> &rankAt,
         const std::vector<bool> &isUp) {
  std::map<std::vector<std::int64_t>, Bounds> found;
  for (std::size_t p = 0; p < isUp.size(); ++p) { // ranks ascend
    Bounds &bounds = found[loopsAt[p]];
    if (!isUp[p]) {
      if (bounds.first >= 0)
        return std::nullopt;
      bounds.below = rankAt[p];
    } else if (bounds.first < 0) {
      bounds.first = rankAt[p];
    }
  }
  return found;
}

/// Where the jump is: a sum of the loops' variables and a constant, which stands last. Nothing if none fits. `steep`:
/// what one iteration may add where the ranks of one alone part.
static std::optional<std::vector<std::int64_t>> planeOf(const std::map<std::vector<std::int64_t>, Bounds> &all,
                                                        std::size_t loops, std::int64_t steep) {
  const auto isSure = [](const Bounds &bounds) { return bounds.below >= 0 && bounds.first >= 0; };
  const auto sure = std::ranges::find_if(all, [&](const auto &entry) { return isSure(entry.second); });
  if (sure == all.end())
    return std::nullopt;
  std::vector<std::int64_t> plane(loops + 1, 0);
  for (std::size_t j = 0; j < loops; ++j)
    for (const auto &[at, bounds] : all) {
      std::vector<std::int64_t> next = at;
      ++next[j];
      const auto other = all.find(next);
      if (!isSure(bounds) || other == all.end() || !isSure(other->second))
        continue;
      plane[j] = other->second.first - bounds.first;
      break;
    }
  const auto heightAt = [&](const std::vector<std::int64_t> &at) {
    std::int64_t height = plane[loops];
    for (std::size_t j = 0; j < loops; ++j)
      height += plane[j] * at[j];
    return height;
  };
  const auto fits = [&] {
    plane[loops] = 0;
    plane[loops] = sure->second.first - heightAt(sure->first);
    return std::ranges::all_of(all, [&](const auto &entry) {
      const std::int64_t height = heightAt(entry.first);
      return height > entry.second.below && (entry.second.first < 0 || height <= entry.second.first);
    });
  };
  if (fits())
    return plane;
  for (std::size_t j = 0; j < loops; ++j) {
    const std::int64_t slope = plane[j];
    for (const std::int64_t other : {-steep, steep}) {
      plane[j] = other;
      if (fits())
        return plane;
    }
    plane[j] = slope;
  }
  return std::nullopt;
}

/// A sum of variables, and a jump where the rank reaches a sum of loops' variables.
std::optional<Formula> Space::byThreshold(std::span<const std::int64_t> values) const {
  const Basis &basis = bases_[0];
  if (points_ < leastPoints || ranks_.size() < 3)
    return std::nullopt;
  std::vector<std::int64_t> left(values.begin(), values.end()), slopes;
  for (const Variable &variable : basis) {
    slopes.push_back(usualSlope(variable, values));
    for (std::size_t p = 0; p < points_; ++p)
      left[p] -= slopes.back() * variable.at[p];
  }
  const auto [low, high] = std::ranges::minmax(left);
  if (std::ranges::any_of(left, [&](std::int64_t value) { return value != low && value != high; }))
    return std::nullopt;
  std::int64_t before = left[0], after = before == low ? high : low;
  std::vector<std::vector<std::int64_t>> loopsAt(points_);
  for (std::size_t v = 1; v < basis.size(); ++v)
    for (std::size_t p = 0; p < points_; ++p)
      loopsAt[p].push_back(basis[v].at[p]);
  for (int side = 0; side < 2; ++side, std::swap(before, after)) {
    std::vector<bool> isUp;
    for (const std::int64_t value : left)
      isUp.push_back(value == after);
    const auto bounds = boundsOf(loopsAt, basis[0].at, isUp);
    const auto plane = bounds ? planeOf(*bounds, loops_.size(), numRanks_ / 2) : std::nullopt;
    if (plane)
      return withJump(slopes, *plane, before, after - before);
  }
  return std::nullopt;
}

/// Σ slopes · variables + constant + jump · (rank >= plane): as a remainder, where it is one.
Formula Space::withJump(std::vector<std::int64_t> slopes, const std::vector<std::int64_t> &plane, std::int64_t constant,
                        std::int64_t jump) const {
  const Basis &basis = bases_[0];
  int depth = 0;
  Formula inner{{{.text = "rank"}}, numRanks_ - plane.back()}; // rank - plane + ranks
  for (std::size_t j = 0; j < loops_.size(); ++j)
    if (plane[j] != 0) {
      inner.terms.push_back({.factor = -plane[j], .text = basis[j + 1].text});
      depth = static_cast<int>(j + 1);
    }
  const auto innerAt = [&](std::size_t p) {
    std::int64_t sum = basis[0].at[p] + inner.constant;
    for (std::size_t j = 0; j < loops_.size(); ++j)
      sum -= plane[j] * basis[j + 1].at[p];
    return sum;
  };
  bool wraps = jump == -slopes[0] * numRanks_ && slopes[0] != 0;
  for (std::size_t p = 0; p < points_ && wraps; ++p)
    wraps = innerAt(p) >= 0 && innerAt(p) < 2 * std::int64_t{numRanks_};
  Formula sum;
  if (wraps) {
    sum.terms.push_back(remainder(inner, numRanks_, depth));
    sum.terms[0].factor = slopes[0];
    constant -= slopes[0] * inner.constant;
    for (std::size_t j = 0; j < loops_.size(); ++j)
      slopes[j + 1] += slopes[0] * plane[j];
    slopes[0] = 0;
  }
  for (std::size_t v = 0; v < basis.size(); ++v)
    if (slopes[v] != 0)
      sum.terms.push_back({slopes[v], basis[v].text, basis[v].depth, false});
  sum.constant = constant;
  if (wraps)
    return sum;
  Formula side{{}, plane.back()}, reach{{{.text = "rank"}}, 0};
  for (std::size_t j = 0; j < loops_.size(); ++j)
    if (plane[j] != 0)
      (plane[j] > 0 ? side : reach).terms.push_back({.factor = std::abs(plane[j]), .text = basis[j + 1].text});
  if (side.constant < 0)
    reach.constant = -std::exchange(side.constant, 0);
  const bool atRanks = side.terms.empty() && side.constant == numRanks_;
  const std::string text = "(" + toString(reach) + " >= " + (atRanks ? "ranks" : toString(side)) + ")";
  sum.terms.push_back({jump, text, depth, true});
  return sum;
}

} // namespace mscclc::dsl
