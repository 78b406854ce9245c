#include "ir/formula/basis_search.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace mscclc::formula {

namespace {

bool areEqual(Values values) {
  return std::ranges::all_of(values, [&](std::int64_t value) { return value == values[0]; });
}

/// Returns the slope of `values` along a direction: their rise for each step of one. Returns nothing if it is not the
/// same at all points.
std::optional<std::int64_t> evenSlope(const Direction &direction, Values values) {
  std::optional<std::int64_t> slope;
  for (std::size_t p = 0; p < values.size(); ++p) {
    const std::uint32_t next = direction.next[p];
    if (next == Direction::none)
      continue;
    const std::int64_t run = direction.feature.at(next) - direction.feature.at(p), rise = values[next] - values[p];
    if (rise % run != 0 || slope.value_or(rise / run) != rise / run)
      return std::nullopt;
    slope = rise / run;
  }
  return slope.value_or(0);
}

/// Returns the term `factor * direction`. Writes `2 << i` instead of `(1 << i) * 2`.
Term termOf(const Direction &direction, std::int64_t factor) {
  Feature feature = direction.feature;
  if (feature.shifted != 0 && std::has_single_bit(static_cast<std::uint64_t>(std::abs(factor)))) {
    feature.shifted *= std::abs(factor);
    factor = factor < 0 ? -1 : 1;
  }
  return {factor, feature.spelled(), direction.depth};
}

int deepest(const std::vector<const Direction *> &directions) {
  int depth = 0;
  for (const Direction *direction : directions)
    depth = std::max(depth, direction->depth);
  return depth;
}

} // namespace

std::optional<Sum> BasisSearch::find(const Basis &basis, Values values) const {
  std::vector<std::int64_t> left(values.begin(), values.end());
  Sum sum;
  Directions rest;
  for (const auto &direction : basis.directions) {
    const auto slope = evenSlope(*direction, left);
    if (!slope) {
      rest.push_back(direction.get());
    } else if (*slope != 0) {
      sum.terms.push_back(termOf(*direction, *slope));
      for (std::size_t p = 0; p < left.size(); ++p)
        left[p] -= *slope * direction->feature.at(p);
    }
  }
  if (areEqual(left)) {
    sum.constant = left[0];
    return sum;
  }
  if (rest.empty())
    return std::nullopt;
  auto found = oneForm(rest, left);
  if (!found)
    found = inParts(basis, rest, left);
  if (!found)
    return std::nullopt;
  sum.add(*found);
  return sum;
}

std::optional<Sum> BasisSearch::oneForm(const Directions &rest, Values left) const {
  for (const auto form : {&BasisSearch::power, &BasisSearch::modular, &BasisSearch::exclusive, &BasisSearch::bit})
    if (auto found = (this->*form)(rest, left))
      return found;
  return std::nullopt;
}

// --------------------------------------------------------------------------------------------------------- remainders

/// True if a modulus is probably not a coincidence: it is the number of all ranks, of ranks of a node, or of nodes; or
/// there are at least twice as many points.
bool BasisSearch::saysSomething(std::int64_t modulus) const {
  const auto isOfNodes = [&](std::int64_t node) { return modulus == node || modulus == space_.ranks() / node; };
  return modulus >= 2 && (static_cast<std::int64_t>(space_.points()) >= 2 * modulus || modulus == space_.ranks() ||
                          std::ranges::any_of(space_.nodes(), isOfNodes));
}

/// Finds unit · ((a·v + … + c) % modulus) + low. Instead of a loop variable v it also tries 1 << v, and a power of two
/// that halves in each iteration.
std::optional<Sum> BasisSearch::modular(const Directions &rest, Values left) const {
  const auto [low, high] = std::ranges::minmax(left);
  std::int64_t unit = 0;
  for (std::size_t p = 0; p < left.size() && unit != 1; ++p)
    unit = std::gcd(unit, left[p] - low);
  const std::int64_t span = (high - low) / unit + 1, ranks = space_.ranks();
  std::vector<std::int64_t> moduli{span};
  const auto add = [&](std::int64_t modulus) {
    if (modulus > span)
      moduli.push_back(modulus);
  };
  add(ranks);
  for (const std::uint32_t node : space_.nodes()) {
    add(node);
    add(ranks / node);
  }
  std::ranges::stable_partition(moduli, [&](std::int64_t m) { return m == ranks; });

  std::vector<ModuloFitter> fitters;
  for (const std::int64_t modulus : moduli) {
    if (!saysSomething(modulus))
      continue;
    auto found = modulo(fitters, rest, {left, low, unit}, modulus);
    if (found)
      found->constant = low;
    else if (modulus != span && low % unit == 0 && low >= 0 && high / unit < modulus)
      found = modulo(fitters, rest, {left, 0, unit}, modulus); // the same without subtracting the least value
    if (!found)
      continue;
    found->terms[0].factor = unit;
    return found;
  }
  return std::nullopt;
}

/// Tries one fitter after another. The first call makes the fitters. The first fitter has the directions of `rest`.
/// Each other fitter has a power of two in place of one loop variable.
std::optional<Sum> BasisSearch::modulo(std::vector<ModuloFitter> &fitters, const Directions &rest, const Scaled &values,
                                       std::int64_t modulus) const {
  if (fitters.empty()) {
    Features features;
    std::vector<std::optional<Neighbours>> neighbours;
    for (const Direction *direction : rest) {
      features.push_back(direction->feature);
      neighbours.push_back(direction->unit);
    }
    fitters.emplace_back(features, neighbours);
    for (std::size_t v = 1; v < rest.size() && rest[0]->depth == 0; ++v)
      for (const bool up : {true, false})
        if (const auto power = powerOf(*rest[v], up)) {
          Features instead = features;
          std::vector<std::optional<Neighbours>> others = neighbours;
          instead[v] = power->feature;
          others[v] = power->unit;
          fitters.emplace_back(std::move(instead), std::move(others));
        }
  }
  for (ModuloFitter &fitter : fitters) {
    const auto found = fitter.fit(values, modulus);
    if (!found)
      continue;
    Sum inner{{}, ((*found)[0] % modulus + modulus) % modulus};
    int depth = 0;
    bool hasPower = false;
    for (std::size_t v = 0; v < rest.size(); ++v) {
      Direction direction = *rest[v];
      direction.feature = fitter.features()[v];
      hasPower |= direction.feature.shifted != 0;
      if ((*found)[v + 1] == 0)
        continue;
      inner.terms.push_back(termOf(direction, (*found)[v + 1]));
      depth = std::max(depth, direction.depth);
    }
    // A sum of a constant and powers of two is refused, because a few numbers may have this form by chance.
    if (inner.terms.empty() || (inner.constant != 0 && hasPower))
      continue;
    std::int64_t least = std::numeric_limits<std::int64_t>::max(), most = std::numeric_limits<std::int64_t>::min();
    for (std::size_t p = 0; p < space_.points(); ++p) {
      const std::int64_t sum = sumAt(fitter.features(), *found, p) + inner.constant - (*found)[0];
      least = std::min(least, sum);
      most = std::max(most, sum);
    }
    const std::int64_t raised = least < 0 ? (-least + modulus - 1) / modulus * modulus : 0;
    if (most + raised > largestNumber)
      continue;
    inner.constant += raised;
    return Sum{{remainder(std::move(inner), modulus, depth)}, 0};
  }
  return std::nullopt;
}

Term BasisSearch::remainder(Sum inner, std::int64_t modulus, int depth) const {
  static const Expr ranks = makeExpr(Spelled{"ranks"});
  const bool isOfRanks = modulus == space_.ranks();
  if (isOfRanks && inner.constant + 1 >= modulus) { // write the word `ranks`, not its value
    inner.terms.push_back({.what = ranks});
    inner.constant -= modulus;
  }
  const bool isProduct = inner.terms.size() == 1 && inner.constant == 0 && inner.terms[0].factor != 1;
  Expr whole = inner.spelledPositiveFirst();
  return {1,
          binary(isProduct ? grouped(std::move(whole)) : std::move(whole), Operator::Remainder,
                 isOfRanks ? ranks : constant(modulus)),
          depth};
}

// ------------------------------------------------------------------------------------------------------------- powers

/// Returns the direction with a power of two in place of its loop variable i. With `up`, the power is `1 << i`.
/// Otherwise it begins with the highest power, and halves in each iteration down to 1. Returns nothing if i does not
/// count from 0 in 3 to 31 iterations.
std::optional<Direction> BasisSearch::powerOf(const Direction &direction, bool up) const {
  if (direction.depth == 0)
    return std::nullopt;
  const Axis &axis = *direction.feature.part.axis;
  const std::int32_t count = axis.high + 1;
  if (!axis.countsUp || axis.low != 0 || count < 3 || count > 31)
    return std::nullopt;
  Direction power{.feature = direction.feature, .depth = direction.depth};
  power.feature.shifted = up ? 1 : std::int64_t{1} << (count - 1);
  power.feature.doubles = up;
  for (std::size_t p = 0; p < space_.points() && !power.unit; ++p)
    if (const std::uint32_t next = direction.next[p];
        next != Direction::none && std::abs(power.feature.at(next) - power.feature.at(p)) == 1)
      power.unit = Neighbours{p, next};
  return power;
}

/// Finds a · 2^k + b, where k is a loop variable, or the last value of that variable minus its current one.
std::optional<Sum> BasisSearch::power(const Directions &rest, Values left) const {
  if (rest.size() != 1)
    return std::nullopt;
  for (const bool up : {true, false}) {
    const auto k = powerOf(*rest[0], up);
    const auto found = k ? fitSum({k->feature}, left) : std::nullopt;
    if (!found)
      continue;
    const std::int64_t constant = (*found)[0], factor = (*found)[1],
                       most = std::int64_t{1} << k->feature.part.axis->high;
    // If b is not 0, three numbers may have this form by chance.
    const bool isChance =
        constant != 0 && most < 8 && !std::has_single_bit(static_cast<std::uint64_t>(std::abs(factor)));
    if (std::abs(factor) <= largestNumber / most && !isChance)
      return Sum{{termOf(*k, factor)}, constant};
  }
  return std::nullopt;
}

/// Finds rank ^ x, where x depends only on loops. The node of the rank, or its place in the node, may stand in place of
/// the rank.
std::optional<Sum> BasisSearch::exclusive(const Directions &rest, Values left) const {
  if (rest[0]->depth != 0)
    return std::nullopt;
  const std::int64_t low = *std::ranges::min_element(left);
  const auto other = [&](std::size_t p) { return (left[p] - low) ^ rest[0]->feature.at(p); };
  const Direction &rank = *space_.basis(0).directions[0]; // x must be the same for all ranks
  for (std::size_t p = 0; p < left.size(); ++p)
    if (const std::uint32_t next = rank.next[p]; next != Direction::none && other(p) != other(next))
      return std::nullopt;
  std::vector<std::int64_t> others(left.size());
  for (std::size_t p = 0; p < left.size(); ++p)
    others[p] = other(p);
  const auto sum = find(space_.basis(0), others);
  if (!sum)
    return std::nullopt;
  Expr x = sum->spelledPositiveFirst();
  if (sum->terms.size() > 1 || (!sum->terms.empty() && sum->constant != 0))
    x = grouped(std::move(x));
  return Sum{{{1, grouped(binary(rest[0]->feature.spelled(), Operator::ExclusiveOr, std::move(x))), deepest(rest)}},
             low};
}

/// Finds a · bit + b, where `bit` is bit number c + k or c - k of the rank, and k is a loop variable.
std::optional<Sum> BasisSearch::bit(const Directions &rest, Values left) const {
  if (rest.size() != 2 || rest[0]->depth != 0 || rest[1]->depth == 0)
    return std::nullopt;
  const Feature &rank = rest[0]->feature, &k = rest[1]->feature;
  const auto [low, high] = std::ranges::minmax(left);
  if (std::ranges::any_of(left, [low, high](std::int64_t value) { return value != low && value != high; }))
    return std::nullopt;
  const std::int64_t jump = high - low, last = k.part.axis->high;
  if (last > 31) // ranks have at most 31 bits
    return std::nullopt;
  std::int64_t most = 0;
  for (std::size_t p = 0; p < left.size(); ++p)
    most = std::max(most, rank.at(p));
  const auto fits = [&](std::int64_t first, std::int64_t step, bool turned) {
    for (std::size_t p = 0; p < left.size(); ++p)
      if ((left[p] != low) != ((rank.at(p) >> (first + step * k.at(p)) & 1) != turned))
        return false;
    return true;
  };
  for (const std::int64_t step : {1, -1})
    for (std::int64_t first = step > 0 ? 0 : last; most >> (step > 0 ? first + last : first) != 0; ++first)
      for (const bool turned : {false, true}) {
        if (!fits(first, step, turned))
          continue;
        Expr by = Sum{{{step, k.spelled()}}, first}.spelledPositiveFirst();
        if (step < 0 || first != 0)
          by = grouped(std::move(by));
        return Sum{
            {{turned ? -jump : jump,
              binary(binary(rank.spelled(), Operator::ShiftRight, std::move(by)), Operator::Remainder, constant(2)),
              rest[1]->depth}},
            turned ? high : low};
      }
  return std::nullopt;
}

// -------------------------------------------------------------------------------------------------------------- parts

/// True if the slope of the values along `a` changes along `b`.
static bool isBentBy(const Direction &a, const Direction &b, Values left) {
  for (std::size_t p = 0; p < left.size(); ++p) {
    const std::uint32_t q = a.next[p], r = b.next[p];
    if (q == Direction::none || r == Direction::none)
      continue;
    if (const std::uint32_t s = b.next[q]; s != Direction::none && left[s] - left[r] != left[q] - left[p])
      return true;
  }
  return false;
}

/// Finds the sum of two forms: one for the rank's node, and one for the rank's place in the node. Each loop is in at
/// most one of them.
std::optional<Sum> BasisSearch::inParts(const Basis &basis, const Directions &rest, Values left) const {
  if (rest.size() < 2 || rest[1]->depth != 0 || !std::ranges::all_of(space_.axes(), &Axis::countsUp))
    return std::nullopt;
  Directions parts[2] = {{rest[0]}, {rest[1]}};
  std::vector<bool> isOfPlace(basis.directions.size(), false);
  isOfPlace[1] = true;
  for (std::size_t v = 2; v < rest.size(); ++v) {
    const bool second = !isBentBy(*rest[0], *rest[v], left);
    parts[second].push_back(rest[v]);
    isOfPlace[static_cast<std::size_t>(rest[v]->depth) + 1] = second;
  }
  // The values of one part are taken at points at which the variables of the other part are as at the first point.
  std::vector<std::uint32_t> pointOf(basis.cells, Direction::none);
  for (std::size_t p = 0; p < left.size(); ++p)
    pointOf[basis.cellOf[p]] = static_cast<std::uint32_t>(p);
  const auto alone = [&](std::size_t point, bool second) {
    std::size_t cell = 0;
    for (std::size_t i = 0; i < isOfPlace.size(); ++i) {
      const std::size_t other =
          basis.cellOf[isOfPlace[i] == second ? point : 0] % (i == 0 ? basis.cells : basis.strides[i - 1]);
      cell += other / basis.strides[i] * basis.strides[i];
    }
    return pointOf[cell];
  };
  std::vector<std::int64_t> values[2];
  for (std::size_t p = 0; p < left.size(); ++p) {
    const std::uint32_t ofNode = alone(p, false), ofPlace = alone(p, true);
    if (ofNode == Direction::none || ofPlace == Direction::none || left[ofNode] + left[ofPlace] - left[0] != left[p])
      return std::nullopt;
    values[0].push_back(left[ofNode]);
    values[1].push_back(left[ofPlace] - left[0]);
  }
  auto ofNode = oneForm(parts[0], values[0]);
  const auto ofPlace = ofNode ? oneForm(parts[1], values[1]) : std::nullopt;
  if (!ofPlace)
    return std::nullopt;
  ofNode->add(*ofPlace);
  return ofNode;
}

} // namespace mscclc::formula
