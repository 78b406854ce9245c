// Numbers that double or halve with each iteration.
#include "compiler/outputs/dsl/formula.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace mscclc::dsl {

/// `1 << i`, or if not `up` what begins with a power of two and ends with 1: of a loop's variable i that begins with 0.
std::optional<Space::Variable> Space::powerOf(const Variable &variable, bool up) const {
  if (variable.depth == 0 || variable.shifted != 0)
    return std::nullopt;
  const Loop &loop = loops_[static_cast<std::size_t>(variable.depth - 1)];
  if (loop.style.kind != LoopStyle::Kind::Count || loop.style.first != 0 || loop.count < 3 || loop.count > 31)
    return std::nullopt;
  Variable power = variable;
  power.shifted = up ? 1 : std::int64_t{1} << (loop.count - 1);
  power.text = variable.text + (up ? " <<" : " >>");
  for (std::int64_t &value : power.at)
    value = up ? power.shifted << value : power.shifted >> value;
  return power;
}

Formula::Term Space::termOf(const Variable &variable, std::int64_t factor) {
  const bool isLong = variable.text.find(' ') != std::string::npos;
  if (variable.shifted == 0)
    return {factor, variable.text, variable.depth, isLong};
  std::int64_t shifted = variable.shifted;
  if (std::has_single_bit(static_cast<std::uint64_t>(std::abs(factor)))) { // `2 << i` rather than `(1 << i) * 2`
    shifted *= std::abs(factor);
    factor = factor < 0 ? -1 : 1;
  }
  const std::size_t name = variable.text.find(' ');
  return {factor,
          "(" + std::to_string(shifted) + variable.text.substr(name) + " " + variable.text.substr(0, name) + ")",
          variable.depth, true};
}

/// a · (bit k + c of the rank) + b, or the same where k goes down.
std::optional<Formula> Space::bit(const std::vector<const Variable *> &rest,
                                  const std::vector<std::int64_t> &left) const {
  if (rest.size() != 2 || rest[0]->depth != 0 || rest[1]->depth == 0)
    return std::nullopt;
  const Variable &rank = *rest[0], &k = *rest[1];
  const auto [low, high] = std::ranges::minmax(left);
  if (low == high || std::ranges::any_of(left, [&](std::int64_t value) { return value != low && value != high; }))
    return std::nullopt;
  const std::int64_t jump = high - low, last = std::ranges::max(k.at), ranks = std::ranges::max(rank.at) + 1;
  if (last > 31) // numbers of ranks have fewer bits
    return std::nullopt;
  const auto fits = [&](std::int64_t first, std::int64_t step, bool turned) {
    for (std::size_t p = 0; p < points_; ++p)
      if ((left[p] != low) != ((rank.at[p] >> (first + step * k.at[p]) & 1) != turned))
        return false;
    return true;
  };
  for (const std::int64_t step : {1, -1})
    for (std::int64_t first = step > 0 ? 0 : last; (ranks - 1) >> (step > 0 ? first + last : first) != 0; ++first)
      for (const bool turned : {false, true}) {
        if (!fits(first, step, turned))
          continue;
        const Formula shift{{{.factor = step, .text = k.text}}, first};
        const bool isPlain = step > 0 && first == 0;
        const std::string by = isPlain ? k.text : "(" + toString(shift) + ")";
        return Formula{{{turned ? -jump : jump, "(" + rank.text + " >> " + by + ") % 2", k.depth, true}},
                       turned ? high : low};
      }
  return std::nullopt;
}

/// a · 2^k + b, or the same where k goes down.
std::optional<Formula> Space::power(const std::vector<const Variable *> &rest,
                                    const std::vector<std::int64_t> &left) const {
  if (rest.size() != 1)
    return std::nullopt;
  for (const bool up : {true, false}) {
    const auto k = powerOf(*rest[0], up);
    if (!k)
      return std::nullopt;
    const auto [low, high] = std::ranges::minmax_element(k->at);
    const std::int64_t rise =
        left[static_cast<std::size_t>(high - k->at.begin())] - left[static_cast<std::size_t>(low - k->at.begin())];
    if (rise % (*high - *low) != 0)
      continue;
    const std::int64_t factor = rise / (*high - *low);
    if (std::abs(factor) > largestNumber / *high)
      continue;
    const std::int64_t constant = left[static_cast<std::size_t>(low - k->at.begin())] - factor;
    if (constant != 0 && *high < 8 && !std::has_single_bit(static_cast<std::uint64_t>(std::abs(factor))))
      continue; // three numbers say little
    bool all = factor != 0;
    for (std::size_t p = 0; p < points_ && all; ++p)
      all = left[p] == factor * k->at[p] + constant;
    if (all)
      return Formula{{termOf(*k, factor)}, constant};
  }
  return std::nullopt;
}

} // namespace mscclc::dsl
