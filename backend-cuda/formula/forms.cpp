#include "backend-cuda/formula/forms.h"

#include "backend-cuda/formula/fit.h"

#include <algorithm>

namespace mscclc::cuda {

namespace {

using Found = std::optional<Formula>;

/// `value`, changed by f where it matters.
template <class F> ValueOf mapped(const ValueOf &value, F f) {
  return [&value, f](const Sample &s) {
    const std::int64_t v = value(s);
    return v == anyValue ? v : f(v, s);
  };
}

Found ofSum(std::optional<LinearSum> sum) {
  if (!sum)
    return std::nullopt;
  return Formula{{}, std::move(sum)};
}

Found fitPlain(const Sought &w) {
  return ofSum(fitSum(w.space, w.value, plainTerms(w.variation)));
}

Found fitSkipping(const Sought &w) {
  return ofSum(fitSum(w.space, w.value, skippingTerms(w.variation)));
}

Found fitSplit(const Sought &w) {
  for (const Terms &terms : splitTerms(w.variation))
    if (auto sum = fitSum(w.space, w.value, terms))
      return ofSum(std::move(sum));
  return std::nullopt;
}

// --------------------------------------------------------------------------------------------------------- thresholds

/// The value at each rank, at one place; empty if it is not known at all ranks.
std::vector<std::int64_t> valuesByRank(const Sought &w) {
  std::vector<std::int64_t> values;
  for (const RankBlock &at : w.space.instances) {
    if (at.block != w.space.instances[0].block)
      continue;
    const std::int64_t v = w.value({at.rank, at.block, 0, w.space.firstItem});
    if (at.rank != static_cast<int>(values.size()) || v == anyValue)
      return {};
    values.push_back(v);
  }
  return values;
}

/// Ranks at which a value, followed from rank to rank at one place, leaves its course: thresholds worth trying.
std::vector<int> oddRanks(const Sought &w) {
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
  std::vector<int> odd;
  for (const std::size_t r : {last, last + 1, first})
    if (r > 0 && r < n)
      odd.push_back(static_cast<int>(r));
  return odd;
}

Found fitStepped(const Sought &w) {
  for (const int rank : oddRanks(w)) {
    Terms terms = skippingTerms(w.variation);
    terms.push_back(FromRank{rank});
    if (auto sum = fitSum(w.space, w.value, terms))
      return ofSum(std::move(sum));
  }
  return std::nullopt;
}

// -------------------------------------------------------------------------------------------------------------- rings

/// Any sum of terms that is `value`, the simplest first.
std::optional<LinearSum> fitAnySum(const Sought &w, const ValueOf &value) {
  std::vector<Terms> candidates = splitTerms(w.variation);
  candidates.insert(candidates.begin(), {plainTerms(w.variation), skippingTerms(w.variation)});
  for (const Terms &terms : candidates)
    if (auto sum = fitSum(w.space, value, terms))
      return sum;
  return std::nullopt;
}

using RingFitters = std::vector<ModuloFitter>;

RingFitters ringFitters(const Sought &w) {
  RingFitters fitters;
  for (Terms &terms : ringTerms(w.variation))
    fitters.emplace_back(w.space, w.value, std::move(terms));
  return fitters;
}

/// value = scale · (sum mod n) + rest, with rest below scale.
Found fitScaledRing(const Sought &w, RingFitters &fitters, const ValueOf &value, int n, std::int64_t scale) {
  const ValueOf high = mapped(value, [scale](std::int64_t v, const Sample &) { return v / scale; });
  for (ModuloFitter &fitter : fitters) {
    auto sum = fitter.fit(high, n);
    if (!sum)
      continue;
    Formula formula{Formula::Ring{*std::move(sum), n, scale}, {}};
    if (scale == 1)
      return formula;
    const ValueOf low = mapped(value, [scale](std::int64_t v, const Sample &) { return v % scale; });
    formula.rest = fitAnySum(w, low);
    if (!formula.rest)
      return std::nullopt;
    return formula;
  }
  return std::nullopt;
}

/// The least and the greatest value; the least is 0 where no ring can begin at it.
std::pair<std::int64_t, std::int64_t> rangeOf(const Sought &w) {
  std::int64_t most = 0, least = anyValue;
  forAll(w.space, [&](const Sample &s) {
    const std::int64_t v = w.value(s);
    if (v != anyValue) {
      most = std::max(most, v);
      least = least == anyValue ? v : std::min(least, v);
    }
    return true;
  });
  return {most == 0 || least < 0 ? 0 : least, most};
}

/// A ring of all ranks, perhaps of several chunks each, all `base` further on. Of a ring that goes all around,
/// scale · (ranks - 1) <= most < scale · ranks.
Found fitRingFrom(const Sought &w, std::int64_t base, std::int64_t most) {
  const ValueOf above = mapped(w.value, [base](std::int64_t v, const Sample &) { return v - base; });
  const std::int64_t first = (most - base) / w.ranks + 1;
  const std::int64_t last = std::max<std::int64_t>(1, (most - base) / (w.ranks - 1));
  RingFitters fitters = ringFitters(w);
  // Of very large numbers only the scales at both ends are tried: what is below the scale takes all of it, or little.
  constexpr std::int64_t mostTried = 128;
  for (std::int64_t scale = first; scale <= last; ++scale) {
    if (scale - first == mostTried)
      scale = std::max(scale, last - mostTried);
    if (Found formula = fitScaledRing(w, fitters, above, w.ranks, scale)) {
      formula->base = base;
      return formula;
    }
  }
  return std::nullopt;
}

Found fitRing(const Sought &w) {
  return fitRingFrom(w, 0, rangeOf(w).second);
}

Found fitRaisedRing(const Sought &w) {
  const auto [least, most] = rangeOf(w);
  return least == 0 ? std::nullopt : fitRingFrom(w, least, most);
}

Found fitGroupRing(const Sought &w) {
  RingFitters fitters = ringFitters(w);
  for (const int d : w.variation.rankDivisors) {
    const ValueOf within =
        mapped(w.value, [d](std::int64_t v, const Sample &s) { return v - std::int64_t{s.rank / d} * d; });
    if (Found formula = fitScaledRing(w, fitters, within, d, 1)) {
      formula->group = d;
      return formula;
    }
  }
  return std::nullopt;
}

constexpr Form all[] = {
    {"a sum of rank, block, step and item", 1, fitPlain},
    {"a sum that leaves out the rank itself", 1, fitSkipping},
    {"a ring of all ranks", 2, fitRing},
    {"a ring of all ranks, above the least value", 2, fitRaisedRing},
    {"a sum of quotient and remainder", 2, fitSplit},
    {"a sum that steps at one rank", 2, fitStepped},
    {"a ring within groups of ranks", 2, fitGroupRing},
};

} // namespace

const std::span<const Form> forms(all);

Expr Formula::spelled(const Axes &axes) const {
  Expr sum;
  const auto add = [&](Expr term) {
    sum = !sum ? std::move(term) : binary(std::move(sum), Operator::Add, std::move(term));
  };
  if (group != 0)
    add(binary(binary(axes[Axis::Rank], Operator::Divide, constant(group)), Operator::Multiply, constant(group)));
  if (ring) {
    Expr around = makeExpr(Modulo{ring->sum.spelled(axes), ring->n});
    add(ring->scale == 1 ? std::move(around) : binary(constant(ring->scale), Operator::Multiply, std::move(around)));
  }
  if (rest && (!ring || !rest->isZero()))
    add(rest->spelled(axes));
  if (base != 0)
    add(constant(base));
  return sum;
}

} // namespace mscclc::cuda
