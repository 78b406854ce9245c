#include "ir/formula/basis_search.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace mscclc::formula {

namespace {

std::optional<Sum> inSomeBasis(const Sought &w) {
  for (std::size_t i = 0; i < w.space.numBases(); ++i)
    if (auto found = BasisSearch(w.space).find(w.space.basis(i), w.values))
      return found;
  return std::nullopt;
}

/// Finds a sum with a term that is 1 where an iteration is past the rank. Lists that leave out the rank itself need
/// this term.
std::optional<Sum> pastTheRank(const Sought &w) {
  const std::vector<Axis> &axes = w.space.axes();
  for (std::size_t loop = 1; loop < axes.size() && axes[0].varies(); ++loop) {
    const Feature past{.part = {.axis = &axes[loop], .from = axes[loop].countsUp ? 0 : 1}, .limit = Part{&axes[0]}};
    for (const std::int64_t sign : {1, -1}) {
      std::vector<std::int64_t> rest(w.values.begin(), w.values.end());
      for (std::size_t p = 0; p < rest.size(); ++p)
        rest[p] -= sign * past.at(p);
      if (std::ranges::equal(rest, w.values))
        break;
      auto found = BasisSearch(w.space).find(w.space.basis(0), rest);
      if (!found)
        continue;
      found->terms.push_back({sign, past.spelled(), static_cast<int>(loop)});
      return found;
    }
  }
  return std::nullopt;
}

// ---------------------------------------------------------------------------------------------------------- thresholds

/// Finds formulas for numbers that jump once along the ranks, at a rank that depends on the iteration. Examples are
/// slots that leave out one rank, and remainders beside other terms.
class JumpSearch {
public:
  explicit JumpSearch(const Sought &w) : w_(w), basis_(w.space.basis(0)) {}

  /// Returns a sum of variables plus a jump. The value jumps where the rank reaches a sum of the loops' variables.
  std::optional<Sum> find();

private:
  /// The place of the jump in one iteration: after rank `below`, and at or before rank `first`.
  struct Bounds {
    std::int64_t below = -1, first = -1; ///< -1: unknown
    std::size_t point = 0;               ///< any point of the iteration
    bool exists = false;
    bool isSure() const { return below >= 0 && first >= 0; }
  };

  std::int64_t usualSlope(const Direction &direction) const;
  std::int64_t at(std::size_t direction, std::size_t point) const {
    return basis_.directions[direction]->feature.at(point);
  }
  std::size_t loops() const { return basis_.directions.size() - 1; }
  bool setBounds(Values left, std::int64_t after);
  bool findPlane();
  std::int64_t height(std::size_t point) const;
  bool planeFits(const Bounds &sure);
  Sum withJump(std::int64_t constant, std::int64_t jump);
  std::optional<Sum> asRemainder(const Sum &inner, int depth, std::int64_t constant);

  const Sought &w_;
  const Basis &basis_;
  std::vector<std::int64_t> slopes_; ///< by direction
  std::vector<Bounds> bounds_;       ///< bounds for each cell of the loops
  /// The rank of the jump, as a linear function of the loops' variables: their factors, and a constant at the end.
  std::vector<std::int64_t> plane_;
};

/// Returns the most frequent rise along a direction; 0 if no rise is a whole number.
std::int64_t JumpSearch::usualSlope(const Direction &direction) const {
  std::map<std::int64_t, std::size_t> counts;
  for (std::size_t p = 0; p < w_.values.size(); ++p)
    if (const std::uint32_t next = direction.next[p]; next != Direction::none) {
      const std::int64_t run = direction.feature.at(next) - direction.feature.at(p);
      if (const std::int64_t rise = w_.values[next] - w_.values[p]; rise % run == 0)
        ++counts[rise / run];
    }
  const auto most = std::ranges::max_element(counts, {}, [](const auto &entry) { return entry.second; });
  return most == counts.end() ? 0 : most->first;
}

/// Finds for each iteration the two ranks between which the value changes to `after`. Returns false if the value
/// changes back at a later rank.
bool JumpSearch::setBounds(Values left, std::int64_t after) {
  bounds_.assign(basis_.strides[0], {});
  for (std::size_t p = 0; p < left.size(); ++p) { // ranks ascend
    Bounds &bounds = bounds_[basis_.cellOf[p] % basis_.strides[0]];
    bounds.exists = true;
    bounds.point = p;
    if (left[p] == after) {
      if (bounds.first < 0)
        bounds.first = at(0, p);
    } else if (bounds.first >= 0) {
      return false;
    } else {
      bounds.below = at(0, p);
    }
  }
  return true;
}

std::int64_t JumpSearch::height(std::size_t point) const {
  std::int64_t height = plane_.back();
  for (std::size_t j = 0; j < loops(); ++j)
    height += plane_[j] * at(j + 1, point);
  return height;
}

/// Sets the constant of `plane_` so that it gives the known jump `sure`. Returns true if it fits all other bounds, too.
bool JumpSearch::planeFits(const Bounds &sure) {
  plane_.back() = 0;
  plane_.back() = sure.first - height(sure.point);
  return std::ranges::all_of(bounds_, [&](const Bounds &bounds) {
    const std::int64_t there = bounds.exists ? height(bounds.point) : 0;
    return !bounds.exists || (there > bounds.below && (bounds.first < 0 || there <= bounds.first));
  });
}

/// Finds `plane_`, the linear function that gives the rank of the jump in each iteration. Its slopes come from
/// neighbouring iterations with known jumps. If it does not fit all bounds, tries a slope of half the number of ranks,
/// as in algorithms that work in two halves.
bool JumpSearch::findPlane() {
  const auto sure = std::ranges::find_if(bounds_, &Bounds::isSure);
  if (sure == bounds_.end())
    return false;
  plane_.assign(loops() + 1, 0);
  for (std::size_t j = 0; j < loops(); ++j) {
    const std::size_t stride = basis_.strides[j + 1];
    for (std::size_t cell = 0; cell + stride < bounds_.size(); ++cell) {
      const Bounds &bounds = bounds_[cell], &other = bounds_[cell + stride];
      if (cell % basis_.strides[j] + stride >= basis_.strides[j] || !bounds.isSure() || !other.isSure() ||
          at(j + 1, other.point) != at(j + 1, bounds.point) + 1)
        continue;
      plane_[j] = other.first - bounds.first;
      break;
    }
  }
  if (planeFits(*sure))
    return true;
  const std::int64_t steep = w_.space.ranks() / 2;
  for (std::size_t j = 0; j < loops(); ++j)
    for (const std::int64_t other : {-steep, steep}) {
      const std::int64_t slope = std::exchange(plane_[j], other);
      if (planeFits(*sure))
        return true;
      plane_[j] = slope;
    }
  return false;
}

std::optional<Sum> JumpSearch::find() {
  // A slope, a jump and its place do not follow from fewer points.
  constexpr std::size_t leastPoints = 6;
  const std::size_t rankCells = basis_.cells / basis_.strides[0];
  if (w_.values.size() < leastPoints || rankCells < 3)
    return std::nullopt;
  std::vector<std::int64_t> left(w_.values.begin(), w_.values.end());
  for (const auto &direction : basis_.directions) {
    slopes_.push_back(usualSlope(*direction));
    for (std::size_t p = 0; p < left.size(); ++p)
      left[p] -= slopes_.back() * direction->feature.at(p);
  }
  const auto [low, high] = std::ranges::minmax(left);
  if (std::ranges::any_of(left, [low, high](std::int64_t value) { return value != low && value != high; }))
    return std::nullopt;
  std::int64_t before = left[0], after = before == low ? high : low;
  for (int side = 0; side < 2; ++side, std::swap(before, after))
    if (setBounds(left, after) && findPlane())
      return withJump(before, after - before);
  return std::nullopt;
}

/// Returns Σ slopes · variables + constant + jump · (rank >= plane), as a remainder if possible.
Sum JumpSearch::withJump(std::int64_t constant, std::int64_t jump) {
  static const Expr ranks = makeExpr(Spelled{"ranks"});
  const Expr rank = basis_.directions[0]->feature.spelled();
  int depth = 0;
  Sum inner{{{1, rank}}, w_.space.ranks() - plane_.back()}; // rank - plane + ranks
  Sum side{{}, plane_.back()}, reach{{{1, rank}}, 0};
  for (std::size_t j = 0; j < loops(); ++j)
    if (plane_[j] != 0) {
      const Expr variable = basis_.directions[j + 1]->feature.spelled();
      inner.terms.push_back({-plane_[j], variable});
      (plane_[j] > 0 ? side : reach).terms.push_back({std::abs(plane_[j]), variable});
      depth = static_cast<int>(j + 1);
    }
  if (jump == -slopes_[0] * w_.space.ranks())
    if (auto found = asRemainder(inner, depth, constant))
      return *found;
  Sum sum{{}, constant};
  for (std::size_t v = 0; v < slopes_.size(); ++v)
    if (slopes_[v] != 0)
      sum.terms.push_back({slopes_[v], basis_.directions[v]->feature.spelled(), static_cast<int>(v)});
  if (side.constant < 0)
    reach.constant = -std::exchange(side.constant, 0);
  const bool atRanks = side.terms.empty() && side.constant == w_.space.ranks();
  sum.terms.push_back(
      {jump,
       grouped(binary(reach.spelledPositiveFirst(), Operator::AtLeast, atRanks ? ranks : side.spelledPositiveFirst())),
       depth});
  return sum;
}

/// Returns the sum with the remainder of `inner`, if `inner` is between 0 and twice the number of ranks.
std::optional<Sum> JumpSearch::asRemainder(const Sum &inner, int depth, std::int64_t constant) {
  const std::int64_t ranks = w_.space.ranks();
  for (std::size_t p = 0; p < w_.values.size(); ++p) {
    const std::int64_t value = at(0, p) + ranks - height(p);
    if (value < 0 || value >= 2 * ranks)
      return std::nullopt;
  }
  if (slopes_[0] == 0)
    return std::nullopt;
  Sum sum{{BasisSearch(w_.space).remainder(inner, ranks, depth)}, constant - slopes_[0] * inner.constant};
  sum.terms[0].factor = slopes_[0];
  for (std::size_t j = 0; j < loops(); ++j)
    if (const std::int64_t slope = slopes_[j + 1] + slopes_[0] * plane_[j]; slope != 0)
      sum.terms.push_back({slope, basis_.directions[j + 1]->feature.spelled(), static_cast<int>(j + 1)});
  return sum;
}

std::optional<Sum> jump(const Sought &w) {
  return JumpSearch(w).find();
}

constexpr Form inSources[] = {
    {"a sum in one basis, with one form for what is left", 1, inSomeBasis},
    {"the same, and 1 where an iteration is past the rank", 1, pastTheRank},
    {"a sum that jumps where the rank reaches a plane", 1, jump},
};

} // namespace

const std::span<const Form> sourceForms(inSources);

} // namespace mscclc::formula
