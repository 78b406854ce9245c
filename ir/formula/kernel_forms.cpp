#include "ir/formula/forms.h"

#include <algorithm>

namespace mscclc::formula {

namespace {

constexpr std::size_t rankAxis = 0, blockAxis = 1, stepAxis = 2, itemAxis = 3, noAxis = 4;
constexpr std::size_t counters[] = {itemAxis, stepAxis, blockAxis}; // all axes except the rank, first tried first
constexpr std::int32_t maxDivisor = 64;

// ----------------------------------------------------------------------------------------------- lists of features

/// Calls `f(divisor)` for each divisor of `n` that is worth trying.
template <class F> void forEachDivisor(std::int64_t n, F f) {
  for (std::int32_t d = 2; d < n && d <= maxDivisor; ++d)
    if (n % d == 0)
      f(d);
}

/// Makes lists of features to try for a number. They depend on the axes that vary between its points.
class FeatureLists {
public:
  explicit FeatureLists(const Space &space) : space_(space) {}

  /// Returns all axes that vary, without axis `except`.
  Features plain(std::size_t except = noAxis) const {
    Features all;
    for (std::size_t a = 0; a < noAxis; ++a)
      if (a != except && axis(a).varies())
        all.push_back({{&axis(a)}});
    return all;
  }

  /// Returns the axes of plain(), and for each counter a term that is 1 where the counter is at least the rank. Lists
  /// that skip the rank itself need these terms.
  Features skipping(std::size_t except = noAxis) const {
    Features all = plain(except);
    if (axis(rankAxis).varies())
      for (const std::size_t a : counters)
        if (a != except && axis(a).varies())
          all.push_back({.part = counted(a), .limit = Part{&axis(rankAxis)}});
    return all;
  }

  /// Calls `f(features)` for each way to split one axis of skipping() into quotient and remainder.
  template <class F> void forEachSplit(F f) const {
    for (const std::size_t a : {blockAxis, itemAxis})
      forEachDivisor(split(a), [&](std::int32_t d) {
        Features all = skipping(a);
        addParts(all, a, d);
        if (axis(rankAxis).varies())
          for (const bool quotient : {true, false})
            all.push_back({.part = counted(a, d, quotient), .limit = Part{&axis(rankAxis)}});
        f(std::move(all));
      });
    forEachDivisor(split(rankAxis), [&](std::int32_t d) {
      Features all = plain(rankAxis);
      addParts(all, rankAxis, d);
      for (const std::size_t a : counters)
        if (axis(a).varies())
          for (const bool quotient : {false, true})
            all.push_back({.part = counted(a), .limit = Part{&axis(rankAxis), d, quotient}});
      f(std::move(all));
    });
  }

  /// Calls `f(features)` for the lists that may go around a ring: plain(), and plain() with block or item split into
  /// quotient and remainder.
  template <class F> void forEachRing(F f) const {
    f(plain());
    for (const std::size_t a : {blockAxis, itemAxis})
      forEachDivisor(split(a), [&](std::int32_t d) {
        Features all = plain(a);
        addParts(all, a, d);
        f(std::move(all));
      });
  }

private:
  const Axis &axis(std::size_t a) const { return space_.axes()[a]; }

  /// Returns the number whose divisors are tried to split an axis.
  std::int64_t split(std::size_t a) const {
    if (!axis(a).varies())
      return 0;
    return a == rankAxis ? space_.ranks() : a == itemAxis ? axis(a).high - axis(a).low + 1 : axis(a).high + 1;
  }

  /// Returns a part of an axis. Items are counted from the first one.
  Part counted(std::size_t a, std::int32_t divisor = 0, bool quotient = false) const {
    return {&axis(a), divisor, quotient, a == itemAxis ? axis(a).low : 0};
  }

  void addParts(Features &all, std::size_t a, std::int32_t divisor) const {
    for (const bool quotient : {false, true})
      all.push_back({{&axis(a), divisor, quotient}});
  }

  const Space &space_;
};

std::optional<Sum> sumOfThese(const Features &features, Values values) {
  const auto found = fitSum(features, values);
  return found ? std::optional(sumOf(features, *found)) : std::nullopt;
}

std::optional<Sum> plainSum(const Sought &w) {
  return sumOfThese(FeatureLists(w.space).plain(), w.values);
}

std::optional<Sum> skippingSum(const Sought &w) {
  return sumOfThese(FeatureLists(w.space).skipping(), w.values);
}

std::optional<Sum> splitSum(const Sought &w) {
  std::optional<Sum> found;
  FeatureLists(w.space).forEachSplit([&](const Features &features) {
    if (!found)
      found = sumOfThese(features, w.values);
  });
  return found;
}

// --------------------------------------------------------------------------------------------------------- thresholds

/// Returns the value at each rank, with the other axes fixed. Returns an empty list if the value is unknown at some
/// rank.
std::vector<std::int64_t> valuesByRank(const Sought &w) {
  const std::vector<Axis> &axes = w.space.axes();
  std::vector<std::int64_t> values;
  for (std::size_t p = 0; p < w.space.points(); ++p) {
    if (axes[blockAxis].at[p] != axes[blockAxis].at[0] || axes[stepAxis].at[p] != 0 ||
        axes[itemAxis].at[p] != axes[itemAxis].low)
      continue;
    if (axes[rankAxis].at[p] != static_cast<std::int64_t>(values.size()) || w.values[p] == anyValue)
      return {};
    values.push_back(w.values[p]);
  }
  return values;
}

/// Returns ranks that may be a threshold: ranks where the even rise of the first ranks ends, or where that of the last
/// ranks begins.
std::vector<std::size_t> oddRanks(const Sought &w) {
  const std::vector<std::int64_t> values = valuesByRank(w);
  const std::size_t n = values.size();
  if (n < 3)
    return {};
  const std::int64_t lastStep = values[n - 1] - values[n - 2], firstStep = values[1] - values[0];
  std::size_t last = n - 1, first = 1;
  while (last > 0 && values[last] - values[last - 1] == lastStep)
    --last;
  while (first < n && values[first] - values[first - 1] == firstStep)
    ++first;
  std::vector<std::size_t> odd{last, last + 1, first};
  std::erase_if(odd, [n](std::size_t r) { return r == 0 || r >= n; });
  return odd;
}

std::optional<Sum> steppedSum(const Sought &w) {
  for (const std::size_t rank : oddRanks(w)) {
    Features features = FeatureLists(w.space).skipping();
    features.push_back({.part = {&w.space.axes()[rankAxis]}, .limit = Part{.from = -static_cast<std::int32_t>(rank)}});
    if (auto sum = sumOfThese(features, w.values))
      return sum;
  }
  return std::nullopt;
}

// -------------------------------------------------------------------------------------------------------------- rings

/// Finds a sum that has the wanted values. Tries simple sums first.
std::optional<Sum> anySum(const Sought &w) {
  for (const auto find : {plainSum, skippingSum, splitSum})
    if (auto sum = find(w))
      return sum;
  return std::nullopt;
}

using RingFitters = std::vector<ModuloFitter>;

RingFitters ringFitters(const Sought &w) {
  RingFitters fitters;
  FeatureLists(w.space).forEachRing([&](Features features) { fitters.emplace_back(std::move(features), w.values); });
  return fitters;
}

/// Finds `base + scale · (sum mod n) + rest`, where `rest` is below `scale`.
std::optional<Sum> scaledRing(const Sought &w, RingFitters &fitters, std::int64_t base, std::int64_t n,
                              std::int64_t scale) {
  for (ModuloFitter &fitter : fitters) {
    const auto around = fitter.fit({w.values, base, scale}, n);
    if (!around)
      continue;
    const Term ring{scale, makeExpr(Modulo{sumOf(fitter.features(), *around).spelledInOrder(), n})};
    if (scale == 1)
      return Sum{{ring}, base};
    std::vector<std::int64_t> low(w.values.begin(), w.values.end());
    for (std::int64_t &value : low)
      value = value == anyValue ? anyValue : (value - base) % scale;
    auto rest = anySum({w.space, low});
    if (!rest)
      return std::nullopt;
    rest->terms.insert(rest->terms.begin(), ring);
    rest->constant += base;
    return rest;
  }
  return std::nullopt;
}

/// Returns the least and the greatest value. Returns 0 in place of a least value if no ring can begin at it.
std::pair<std::int64_t, std::int64_t> rangeOf(const Sought &w) {
  std::int64_t most = 0, least = anyValue;
  for (const std::int64_t value : w.values)
    if (value != anyValue) {
      most = std::max(most, value);
      least = least == anyValue ? value : std::min(least, value);
    }
  return {most == 0 || least < 0 ? 0 : least, most};
}

/// Finds a ring of all ranks, with one or more chunks for each rank, shifted by `base`. If the ring is complete, scale
/// · (ranks - 1) <= most - base < scale · ranks.
std::optional<Sum> ringFrom(const Sought &w, std::int64_t base, std::int64_t most) {
  const std::int64_t ranks = w.space.ranks(), first = (most - base) / ranks + 1;
  const std::int64_t last = std::max<std::int64_t>(1, (most - base) / (ranks - 1));
  RingFitters fitters = ringFitters(w);
  // For very large numbers, only the scales at both ends of the range are tried. The rest is large at one end and small
  // at the other.
  constexpr std::int64_t mostTried = 128;
  for (std::int64_t scale = first; scale <= last; ++scale) {
    if (scale - first == mostTried)
      scale = std::max(scale, last - mostTried);
    if (auto found = scaledRing(w, fitters, base, ranks, scale))
      return found;
  }
  return std::nullopt;
}

std::optional<Sum> ring(const Sought &w) {
  return ringFrom(w, 0, rangeOf(w).second);
}

std::optional<Sum> raisedRing(const Sought &w) {
  const auto [least, most] = rangeOf(w);
  return least == 0 ? std::nullopt : ringFrom(w, least, most);
}

std::optional<Sum> groupRing(const Sought &w) {
  const Axis &rank = w.space.axes()[rankAxis];
  RingFitters fitters = ringFitters(w);
  std::optional<Sum> found;
  if (rank.varies())
    forEachDivisor(w.space.ranks(), [&](std::int32_t d) {
      if (found)
        return;
      std::vector<std::int64_t> within(w.values.begin(), w.values.end());
      for (std::size_t p = 0; p < within.size(); ++p)
        if (within[p] != anyValue)
          within[p] -= std::int64_t{rank.at[p] / d} * d;
      found = scaledRing({w.space, within}, fitters, 0, d, 1);
      if (found) // rank / d · d
        found->terms.insert(found->terms.begin(),
                            Term{1, binary(Part{&rank, d, true}.spelled(), Operator::Multiply, constant(d))});
    });
  return found;
}

constexpr Form inKernels[] = {
    {"a sum of rank, block, step and item", 1, plainSum},
    {"a sum that leaves out the rank itself", 1, skippingSum},
    {"a ring of all ranks", 2, ring},
    {"a ring of all ranks, above the least value", 2, raisedRing},
    {"a sum of quotient and remainder", 2, splitSum},
    {"a sum that steps at one rank", 2, steppedSum},
    {"a ring within groups of ranks", 2, groupRing},
};

} // namespace

const std::span<const Form> kernelForms(inKernels);

std::optional<Sum> findFormula(std::span<const Form> forms, const Sought &sought) {
  for (const Form &form : forms)
    if (sought.space.ranks() >= form.fewestRanks)
      if (auto found = form.find(sought))
        return found;
  return std::nullopt;
}

} // namespace mscclc::formula
