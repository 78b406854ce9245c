#include "backend-cuda/formula.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace mscclc::cuda {

namespace {

/// A quantity that a formula may be affine in.
struct Feature {
  enum Kind { One, Rank, Block, Step, Item, Reaches, AtLeast } kind = One;
  /// Of rank, block or item: what is left by, or how often goes, `divisor`; 0: the variable itself.
  int divisor = 0;
  bool quotient = false;
  /// Reaches: 1 if that variable is at least the rank (or the rank's remainder or quotient by `rankDivisor`).
  Kind of = One;
  int rankDivisor = 0;
  bool rankQuotient = false;
  /// Reaches, of an item: the item from which its list counts. AtLeast: the rank from which it is 1.
  int from = 0;
};

int part(int v, int divisor, bool quotient) {
  return divisor == 0 ? v : quotient ? v / divisor : v % divisor;
}

int variable(Feature::Kind kind, const Sample &s) {
  switch (kind) {
  case Feature::Rank:
    return s.rank;
  case Feature::Block:
    return s.block;
  case Feature::Step:
    return s.step;
  case Feature::Item:
    return s.item;
  default:
    return 1;
  }
}

int valueOf(const Feature &f, const Sample &s) {
  if (f.kind == Feature::One)
    return 1;
  if (f.kind == Feature::AtLeast)
    return s.rank >= f.from ? 1 : 0;
  if (f.kind == Feature::Reaches)
    return part(variable(f.of, s) - f.from, f.divisor, f.quotient) >= part(s.rank, f.rankDivisor, f.rankQuotient) ? 1
                                                                                                                  : 0;
  return part(variable(f.kind, s), f.divisor, f.quotient);
}

std::string spellPart(const std::string &name, int divisor, bool quotient) {
  return divisor == 0 ? name : name + (quotient ? " / " : " % ") + std::to_string(divisor);
}

std::string spell(const Feature &f, const Spelling &names) {
  const auto name = [&](Feature::Kind kind) -> const std::string & {
    return kind == Feature::Rank    ? names.rank
           : kind == Feature::Block ? names.block
           : kind == Feature::Step  ? names.step
                                    : names.item;
  };
  if (f.kind == Feature::AtLeast)
    return "(" + names.rank + " >= " + std::to_string(f.from) + ")";
  if (f.kind == Feature::Reaches) {
    const std::string counted =
        f.from > 1 || (f.from != 0 && f.divisor != 0)
            ? (f.divisor != 0 ? "(" : "") + name(f.of) + " - " + std::to_string(f.from) + (f.divisor != 0 ? ")" : "")
            : name(f.of);
    return "(" + spellPart(counted, f.divisor, f.quotient) + (f.from == 1 && f.divisor == 0 ? " > " : " >= ") +
           spellPart(names.rank, f.rankDivisor, f.rankQuotient) + ")";
  }
  return spellPart(name(f.kind), f.divisor, f.quotient);
}

using Features = std::vector<Feature>;
using Coefficients = std::vector<std::int64_t>;

/// Calls f(sample) for every sample until it returns false; true if it never did.
template <class F> bool forAll(const SampleSpace &space, F f) {
  for (const SampleSpace::Instance &at : space.instances)
    for (int step = 0; step < space.steps; ++step)
      for (int item = 0; item < space.items; ++item)
        if (!f(Sample{at.rank, at.block, step, space.firstItem + item}))
          return false;
  return true;
}

std::int64_t evaluate(const Features &features, const Coefficients &coefficients, const Sample &s) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < features.size(); ++i)
    if (coefficients[i] != 0)
      sum += coefficients[i] * valueOf(features[i], s);
  return sum;
}

/// Solves rows · x = right-hand sides with Gaussian elimination, earlier features first, free ones 0.
std::vector<double> solve(std::vector<std::vector<double>> rows, std::size_t columns) {
  std::size_t next = 0;
  std::vector<std::size_t> pivotOf;
  for (std::size_t c = 0; c < columns && next < rows.size(); ++c) {
    std::size_t best = next;
    for (std::size_t r = next; r < rows.size(); ++r)
      if (std::fabs(rows[r][c]) > std::fabs(rows[best][c]))
        best = r;
    if (std::fabs(rows[best][c]) < 1e-9)
      continue;
    std::swap(rows[best], rows[next]);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      if (r == next || rows[r][c] == 0)
        continue;
      const double factor = rows[r][c] / rows[next][c];
      for (std::size_t k = c; k <= columns; ++k)
        rows[r][k] -= factor * rows[next][k];
    }
    pivotOf.push_back(c);
    ++next;
  }
  std::vector<double> x(columns, 0);
  for (std::size_t r = 0; r < pivotOf.size(); ++r)
    x[pivotOf[r]] = rows[r][columns] / rows[r][pivotOf[r]];
  return x;
}

/// Coefficients with which `value` is affine in `features` over all samples. Starts from nothing and adds the first
/// sample that the guess so far gets wrong; each raises the rank of the system, or shows that there is no solution.
/// Guesses may be fractions on the way; the end is checked on integers.
std::optional<Coefficients> fitAffine(const SampleSpace &space, const ValueOf &value, const Features &features) {
  constexpr double tolerance = 1e-4;
  std::vector<std::vector<double>> rows;
  std::vector<double> guess(features.size(), 0);
  for (std::size_t round = 0; round <= features.size(); ++round) {
    std::optional<Sample> wrong;
    forAll(space, [&](const Sample &s) {
      const std::int64_t v = value(s);
      if (v == anyValue)
        return true;
      double sum = -static_cast<double>(v);
      for (std::size_t i = 0; i < features.size(); ++i)
        sum += guess[i] * valueOf(features[i], s);
      if (std::fabs(sum) > tolerance)
        wrong = s;
      return !wrong;
    });
    if (!wrong) {
      Coefficients whole;
      for (const double c : guess)
        whole.push_back(std::llround(c));
      const bool right = forAll(space, [&](const Sample &s) {
        const std::int64_t v = value(s);
        return v == anyValue || evaluate(features, whole, s) == v;
      });
      return right ? std::optional(whole) : std::nullopt;
    }
    std::vector<double> row;
    for (const Feature &f : features)
      row.push_back(valueOf(f, *wrong));
    row.push_back(static_cast<double>(value(*wrong)));
    rows.push_back(std::move(row));
    guess = solve(rows, features.size());
  }
  return std::nullopt;
}

/// The same modulo `n`: slopes are read off neighbours that differ in one feature by one.
std::optional<Coefficients> fitModulo(const SampleSpace &space, const ValueOf &value, const Features &features, int n) {
  std::optional<Sample> first;
  std::vector<bool> known(features.size(), false);
  Coefficients slopes(features.size(), 0);
  std::int64_t base = 0;
  const bool inRange = forAll(space, [&](const Sample &s) {
    const std::int64_t v = value(s);
    if (v == anyValue)
      return true;
    if (v < 0 || v >= n)
      return false;
    if (!first) {
      first = s;
      base = v;
      return true;
    }
    std::size_t differs = features.size();
    for (std::size_t i = 0; i < features.size(); ++i) {
      const int d = valueOf(features[i], s) - valueOf(features[i], *first);
      if (d == 0)
        continue;
      if (d != 1 || differs != features.size())
        return true;
      differs = i;
    }
    if (differs != features.size() && !known[differs]) {
      known[differs] = true;
      std::int64_t slope = (v - base + n) % n;
      slopes[differs] = slope > n / 2 ? slope - n : slope;
    }
    return true;
  });
  if (!inRange || !first)
    return std::nullopt;
  // features[0] is the constant.
  std::int64_t at = base - evaluate(features, slopes, *first);
  slopes[0] += (at % n + n) % n;
  if (slopes[0] > n / 2)
    slopes[0] -= n;
  const bool right = forAll(space, [&](const Sample &s) {
    const std::int64_t v = value(s);
    return v == anyValue || ((evaluate(features, slopes, s) % n) + n) % n == v;
  });
  return right ? std::optional(slopes) : std::nullopt;
}

std::string spellSum(const Features &features, const Coefficients &coefficients, const Spelling &names) {
  std::string text;
  const auto add = [&](std::int64_t c, const std::string &term, bool product) {
    if (c == 0)
      return;
    const std::int64_t magnitude = c < 0 ? -c : c;
    text += text.empty() ? (c < 0 ? "-" : "") : (c < 0 ? " - " : " + ");
    if (term.empty())
      text += std::to_string(magnitude);
    else if (magnitude == 1)
      text += term;
    else
      text += std::to_string(magnitude) + " * " + (product ? "(" + term + ")" : term);
  };
  for (std::size_t i = 1; i < features.size(); ++i)
    add(coefficients[i], spell(features[i], names), features[i].divisor != 0 && features[i].kind != Feature::Reaches);
  add(coefficients[0], "", false);
  return text.empty() ? "0" : text;
}

/// What varies in a space, and the divisors worth trying.
struct Shape {
  bool ranks = false, blocks = false, steps = false, items = false;
  int firstItem = 0;
  std::vector<int> blockDivisors, rankDivisors, itemDivisors;
};

std::vector<int> divisorsOf(int n) {
  std::vector<int> result;
  for (int d = 2; d < n && d <= 64; ++d)
    if (n % d == 0)
      result.push_back(d);
  return result;
}

Shape shapeOf(const SampleSpace &space, int ranks) {
  Shape shape;
  int lastBlock = 0;
  for (const SampleSpace::Instance &at : space.instances) {
    shape.ranks |= at.rank != space.instances[0].rank;
    shape.blocks |= at.block != space.instances[0].block;
    lastBlock = std::max(lastBlock, at.block);
  }
  shape.steps = space.steps > 1;
  shape.items = space.items > 1;
  shape.firstItem = space.firstItem;
  if (shape.blocks)
    shape.blockDivisors = divisorsOf(lastBlock + 1);
  if (shape.ranks)
    shape.rankDivisors = divisorsOf(ranks);
  if (shape.items)
    shape.itemDivisors = divisorsOf(space.items);
  return shape;
}

Features plain(const Shape &shape) {
  Features f{{Feature::One}};
  if (shape.ranks)
    f.push_back({Feature::Rank});
  if (shape.blocks)
    f.push_back({Feature::Block});
  if (shape.steps)
    f.push_back({Feature::Step});
  if (shape.items)
    f.push_back({Feature::Item});
  return f;
}

/// Whether block, step or item (its quotient or remainder by `divisor`) has reached the rank.
Feature reaches(const Shape &shape, Feature::Kind of, int divisor = 0, bool quotient = false) {
  return {Feature::Reaches, divisor, quotient, of, 0, false, of == Feature::Item ? shape.firstItem : 0};
}

/// `plain` and whether block, step or item has reached the rank: the numbers of a list that leaves the rank out.
Features skipping(const Shape &shape) {
  Features f = plain(shape);
  if (!shape.ranks)
    return f;
  for (auto [varies, kind] : {std::pair{shape.items, Feature::Item}, std::pair{shape.steps, Feature::Step},
                              std::pair{shape.blocks, Feature::Block}})
    if (varies)
      f.push_back(reaches(shape, kind));
  return f;
}

/// Splits one variable into quotient and remainder.
Features splitting(const Shape &shape, Feature::Kind kind, int divisor) {
  Features f = skipping(shape);
  std::erase_if(f, [&](const Feature &x) { return x.kind == kind || (x.kind == Feature::Reaches && x.of == kind); });
  f.push_back({kind, divisor, false});
  f.push_back({kind, divisor, true});
  if (shape.ranks && kind != Feature::Rank) {
    f.push_back(reaches(shape, kind, divisor, true));
    f.push_back(reaches(shape, kind, divisor, false));
  }
  if (kind == Feature::Rank) {
    std::erase_if(f, [](const Feature &x) { return x.kind == Feature::Reaches; });
    for (auto [varies, of] : {std::pair{shape.items, Feature::Item}, std::pair{shape.steps, Feature::Step},
                              std::pair{shape.blocks, Feature::Block}})
      if (varies)
        for (const bool quotient : {false, true}) {
          f.push_back(reaches(shape, of));
          f.back().rankDivisor = divisor;
          f.back().rankQuotient = quotient;
        }
  }
  return f;
}

std::vector<Features> simpleCandidates(const Shape &shape) {
  return {plain(shape), skipping(shape)};
}
std::vector<Features> splitCandidates(const Shape &shape) {
  std::vector<Features> all;
  for (int d : shape.blockDivisors)
    all.push_back(splitting(shape, Feature::Block, d));
  for (int d : shape.itemDivisors)
    all.push_back(splitting(shape, Feature::Item, d));
  for (int d : shape.rankDivisors)
    all.push_back(splitting(shape, Feature::Rank, d));
  return all;
}

std::vector<Features> moduloCandidates(const Shape &shape) {
  std::vector<Features> all{plain(shape)};
  const auto split = [&](Feature::Kind kind, const std::vector<int> &divisors) {
    for (const int d : divisors) {
      Features f = plain(shape);
      std::erase_if(f, [&](const Feature &x) { return x.kind == kind; });
      f.push_back({kind, d, false});
      f.push_back({kind, d, true});
      all.push_back(std::move(f));
    }
  };
  split(Feature::Block, shape.blockDivisors);
  split(Feature::Item, shape.itemDivisors);
  return all;
}

/// Ranks at which a value, followed from rank to rank at one place, leaves its course: thresholds worth trying.
std::vector<int> oddRanks(const SampleSpace &space, const ValueOf &value) {
  std::vector<std::int64_t> values;
  for (const SampleSpace::Instance &at : space.instances) {
    if (at.block != space.instances[0].block)
      continue;
    const std::int64_t v = value({at.rank, at.block, 0, space.firstItem});
    if (at.rank != static_cast<int>(values.size()) || v == anyValue)
      return {};
    values.push_back(v);
  }
  const std::size_t n = values.size();
  std::vector<int> odd;
  if (n < 3)
    return odd;
  const std::int64_t step = values[n - 1] - values[n - 2], firstStep = values[1] - values[0];
  std::size_t last = n - 1, first = 1;
  while (last > 0 && values[last] - values[last - 1] == step)
    --last;
  while (first < n && values[first] - values[first - 1] == firstStep)
    ++first;
  for (const std::size_t r : {last, last + 1, first})
    if (r > 0 && r < n)
      odd.push_back(static_cast<int>(r));
  return odd;
}

/// value = scale · ((affine) mod n) + rest, `rest` affine and below scale.
std::string fitScaledModulo(const SampleSpace &space, const ValueOf &value, const Shape &shape, int n,
                            std::int64_t scale, const Spelling &names) {
  const ValueOf high = [&](const Sample &s) {
    const std::int64_t v = value(s);
    return v == anyValue ? v : v / scale;
  };
  for (const Features &features : moduloCandidates(shape)) {
    const auto top = fitModulo(space, high, features, n);
    if (!top)
      continue;
    std::string text = "mod(" + spellSum(features, *top, names) + ", " + std::to_string(n) + ")";
    if (scale == 1)
      return text;
    const ValueOf low = [&](const Sample &s) {
      const std::int64_t v = value(s);
      return v == anyValue ? v : v % scale;
    };
    std::vector<Features> candidates = simpleCandidates(shape), more = splitCandidates(shape);
    candidates.insert(candidates.end(), more.begin(), more.end());
    for (const Features &lowFeatures : candidates)
      if (const auto rest = fitAffine(space, low, lowFeatures)) {
        text = std::to_string(scale) + " * " + text;
        const std::string sum = spellSum(lowFeatures, *rest, names);
        return sum == "0" ? text : text + " + " + sum;
      }
    return {};
  }
  return {};
}

} // namespace

std::string Tables::add(std::vector<std::int64_t> entries) {
  for (const Table &t : tables_)
    if (t.entries == entries)
      return t.name;
  entries_ += entries.size();
  tables_.push_back({prefix_ + std::to_string(tables_.size()), std::move(entries)});
  return tables_.back().name;
}

std::string FormulaFinder::expression(const SampleSpace &space, const ValueOf &value, const Spelling &names) const {
  const Shape shape = shapeOf(space, ranks_);
  const auto affine = [&](const std::vector<Features> &candidates) -> std::string {
    for (const Features &features : candidates)
      if (const auto c = fitAffine(space, value, features))
        return spellSum(features, *c, names);
    return {};
  };
  if (std::string text = affine(simpleCandidates(shape)); !text.empty() || ranks_ < 2)
    return text;
  // A ring of all ranks, perhaps of several chunks each, perhaps behind `least`: scale · (n - 1) <= most < scale · n.
  std::int64_t most = 0, least = anyValue;
  forAll(space, [&](const Sample &s) {
    const std::int64_t v = value(s);
    if (v != anyValue) {
      most = std::max(most, v);
      least = least == anyValue ? v : std::min(least, v);
    }
    return true;
  });
  if (most == 0 || least < 0)
    least = 0;
  std::vector<std::int64_t> bases{0};
  if (least != 0)
    bases.push_back(least);
  for (const std::int64_t base : bases) {
    const ValueOf above = [&](const Sample &s) {
      const std::int64_t v = value(s);
      return v == anyValue ? v : v - base;
    };
    const std::int64_t high = most - base, first = high / ranks_ + 1;
    const std::int64_t last = std::max<std::int64_t>(1, high / (ranks_ - 1));
    // Of very large numbers only the scales at both ends are tried: what is below the scale takes all of it, or little.
    constexpr std::int64_t mostTried = 128;
    for (std::int64_t scale = first; scale <= last; ++scale) {
      if (scale - first == mostTried)
        scale = std::max(scale, last - mostTried);
      if (std::string text = fitScaledModulo(space, above, shape, ranks_, scale, names); !text.empty())
        return base == 0 ? text : text + " + " + std::to_string(base);
    }
  }
  if (std::string text = affine(splitCandidates(shape)); !text.empty())
    return text;
  for (const int rank : oddRanks(space, value)) {
    Features stepped = skipping(shape);
    stepped.push_back({Feature::AtLeast, 0, false, Feature::One, 0, false, rank});
    if (std::string text = affine({stepped}); !text.empty())
      return text;
  }
  // A ring within groups of ranks.
  for (int d : shape.rankDivisors) {
    const ValueOf within = [&](const Sample &s) {
      const std::int64_t v = value(s);
      return v == anyValue ? v : v - std::int64_t{s.rank / d} * d;
    };
    if (std::string text = fitScaledModulo(space, within, shape, d, 1, names); !text.empty())
      return names.rank + " / " + std::to_string(d) + " * " + std::to_string(d) + " + " + text;
  }
  return {};
}

std::string FormulaFinder::expressionOrTable(const SampleSpace &space, const ValueOf &value, const Spelling &names) {
  if (std::string text = expression(space, value, names); !text.empty())
    return text;
  // Leave out the variables on which it does not depend.
  std::array<bool, 4> needed{true, true, true, true};
  std::array<int, 4> low{1 << 30, 1 << 30, 0, space.firstItem}, size{0, 0, space.steps, space.items};
  for (const SampleSpace::Instance &at : space.instances) {
    low[0] = std::min(low[0], at.rank);
    low[1] = std::min(low[1], at.block);
    size[0] = std::max(size[0], at.rank + 1);
    size[1] = std::max(size[1], at.block + 1);
  }
  size[0] -= low[0];
  size[1] -= low[1];
  std::vector<std::int64_t> entries;
  const auto fill = [&] {
    std::size_t total = 1;
    for (std::size_t d = 0; d < 4; ++d)
      total *= needed[d] ? static_cast<std::size_t>(size[d]) : 1;
    entries.assign(total, anyValue);
    return forAll(space, [&](const Sample &s) {
      const std::array<int, 4> at{s.rank, s.block, s.step, s.item};
      std::size_t index = 0;
      for (std::size_t d = 0; d < 4; ++d)
        if (needed[d])
          index = index * static_cast<std::size_t>(size[d]) + static_cast<std::size_t>(at[d] - low[d]);
      const std::int64_t v = value(s);
      if (v == anyValue)
        return true;
      if (entries[index] != anyValue && entries[index] != v)
        return false;
      entries[index] = v;
      return true;
    });
  };
  for (std::size_t d = 0; d < 4; ++d) {
    needed[d] = false;
    if (!fill())
      needed[d] = true;
  }
  fill();
  for (std::int64_t &e : entries)
    e = e == anyValue ? 0 : e;
  const std::array<const std::string *, 4> name{&names.rank, &names.block, &names.step, &names.item};
  std::string index;
  for (std::size_t d = 0; d < 4; ++d) {
    if (!needed[d])
      continue;
    const std::string term = low[d] == 0 ? *name[d] : "(" + *name[d] + " - " + std::to_string(low[d]) + ")";
    if (index.empty()) {
      index = term;
      continue;
    }
    const bool sum = index.find(" + ") != std::string::npos;
    index = (sum ? "(" + index + ")" : index) + " * " + std::to_string(size[d]) + " + " + term;
  }
  return tables_.add(std::move(entries)) + "[" + (index.empty() ? "0" : index) + "]";
}

} // namespace mscclc::cuda
