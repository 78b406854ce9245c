#include "ir/nearest_name.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <vector>

namespace mscclc::ir {
namespace {

/// Returns `name` in lower case, without `_` and `-`.
std::string letters(std::string_view name) {
  std::string out;
  for (const char c : name)
    if (c != '_' && c != '-')
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

/// Returns the number of steps from `a` to `b`. A step inserts, drops or replaces a letter, or swaps two neighbours.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i)
    for (std::size_t k = 0; k <= b.size(); ++k) {
      if (i == 0 || k == 0) {
        d[i][k] = i + k;
        continue;
      }
      d[i][k] = std::min({d[i - 1][k] + 1, d[i][k - 1] + 1, d[i - 1][k - 1] + (a[i - 1] != b[k - 1])});
      if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
        d[i][k] = std::min(d[i][k], d[i - 2][k - 2] + 1);
    }
  return d[a.size()][b.size()];
}

/// Returns the distance of two names; nothing if they have little in common.
std::optional<std::size_t> apart(const std::string &word, const std::string &name) {
  constexpr std::size_t longest = 64, shortest = 3;
  if (word.empty() || name.empty() || word.size() > longest || name.size() > longest)
    return std::nullopt;
  const std::size_t shorter = std::min(word.size(), name.size()), longer = std::max(word.size(), name.size());
  const std::size_t letters = distance(word, name);
  if (letters <= std::max<std::size_t>(1, longer / 4) && letters < shorter)
    return letters;
  const bool isPart = word.find(name) != word.npos || name.find(word) != name.npos;
  return isPart && shorter >= shortest ? std::optional(longer - shorter + 1) : std::nullopt;
}

} // namespace

std::optional<std::string> nearestName(std::string_view word, std::span<const std::string> names) {
  const std::string plain = letters(word);
  std::optional<std::string> nearest;
  std::optional<std::size_t> least;
  for (const std::string &name : names)
    if (const auto far = apart(plain, letters(name)); far && (!least || *far < *least)) {
      least = far;
      nearest = name;
    }
  return nearest;
}

} // namespace mscclc::ir
