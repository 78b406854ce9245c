// Sums of two forms: one of the rank's node, one of its place there, each with loops of its own.
#include "compiler/outputs/dsl/formula.h"

#include <algorithm>

namespace mscclc::dsl {

/// Whether what a step of `a` adds depends on `b`.
bool Space::bear(const Variable &a, const Variable &b, const std::vector<std::int64_t> &left) const {
  for (std::size_t p = 0; p < points_; ++p) {
    const std::uint32_t q = a.next[p], r = b.next[p];
    if (q == none || r == none)
      continue;
    if (const std::uint32_t s = b.next[q]; s != none && left[s] - left[r] != left[q] - left[p])
      return true;
  }
  return false;
}

/// `rest`: the rank's node, its place there and loops.
std::optional<Formula> Space::inParts(const std::vector<const Variable *> &rest,
                                      const std::vector<std::int64_t> &left) const {
  if (rest.size() < 2 || rest[1]->depth != 0 ||
      std::ranges::any_of(loops_, [](const Loop &loop) { return loop.style.kind != LoopStyle::Kind::Count; }))
    return std::nullopt;
  const Variable &number = *rest[0], &place = *rest[1];
  std::vector<const Variable *> parts[2] = {{&number}, {&place}};
  std::vector<bool> isOfPlace(loops_.size(), false);
  for (std::size_t v = 2; v < rest.size(); ++v) {
    const bool second = !bear(number, *rest[v], left);
    parts[second].push_back(rest[v]);
    isOfPlace[static_cast<std::size_t>(rest[v]->depth - 1)] = second;
  }
  // Each part alone: where the other one's variables are as at the first point.
  const std::size_t size = static_cast<std::size_t>(std::ranges::max(place.at) + 1);
  std::vector<std::vector<std::uint32_t>> indexOf(static_cast<std::size_t>(std::ranges::max(number.at) + 1),
                                                  std::vector<std::uint32_t>(size, none));
  for (std::uint32_t i = 0; i < ranks_.size(); ++i)
    indexOf[static_cast<std::size_t>(number.at[i * inner_])][static_cast<std::size_t>(place.at[i * inner_])] = i;
  std::vector<std::int64_t> values[2];
  for (std::size_t p = 0; p < points_; ++p)
    for (const bool second : {false, true}) {
      const std::uint32_t index = indexOf[static_cast<std::size_t>(number.at[second ? 0 : p])]
                                         [static_cast<std::size_t>(place.at[second ? p : 0])];
      if (index == none)
        return std::nullopt;
      std::size_t at = index, stride = inner_;
      for (std::size_t j = 0; j < loops_.size(); ++j) {
        stride /= loops_[j].count;
        at = at * loops_[j].count + (isOfPlace[j] == second ? p / stride % loops_[j].count : 0);
      }
      values[second].push_back(left[at] - (second ? left[0] : 0));
    }
  for (std::size_t p = 0; p < points_; ++p)
    if (values[0][p] + values[1][p] != left[p])
      return std::nullopt;
  const auto ofNode = oneForm(parts[0], values[0]), ofPlace = oneForm(parts[1], values[1]);
  return ofNode && ofPlace ? std::optional(*ofNode + *ofPlace) : std::nullopt;
}

} // namespace mscclc::dsl
