#include "backend-json/align.h"

#include <algorithm>

namespace mscclc::json {

namespace {

using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

/// Myers' search. Diagonal k holds the points (x, y) with x - y = k. furthest[k] is the largest x reached on it.
class Search {
public:
  Search(std::size_t leftSize, std::size_t rightSize, const std::function<bool(std::size_t, std::size_t)> &equal)
      : leftSize_(static_cast<long>(leftSize)), rightSize_(static_cast<long>(rightSize)), equal_(equal) {}

  /// Searches, and returns true if there is a path of at most `maxEdits` edits.
  bool run(long maxEdits) {
    maxEdits = std::min(maxEdits, leftSize_ + rightSize_);
    std::vector<long> furthest(2 * static_cast<std::size_t>(maxEdits) + 3, 0);
    const auto at = [&](std::vector<long> &v, long k) -> long & {
      return v[static_cast<std::size_t>(k + maxEdits + 1)];
    };
    for (long d = 0; d <= maxEdits; ++d) {
      for (long k = -d; k <= d; k += 2) {
        long x = goesDown(furthest, maxEdits, k, d) ? at(furthest, k + 1) : at(furthest, k - 1) + 1;
        if (d == 0)
          x = 0;
        while (x < leftSize_ && x - k < rightSize_ && x - k >= 0 &&
               equal_(static_cast<std::size_t>(x), static_cast<std::size_t>(x - k)))
          ++x;
        at(furthest, k) = x;
        if (x >= leftSize_ && x - k >= rightSize_) {
          history_.push_back(furthest);
          maxEdits_ = maxEdits;
          return true;
        }
      }
      // Most of the array is still unused, but there are few steps, so copies of it stay cheap.
      history_.push_back(furthest);
    }
    return false;
  }

  /// Follows the found path backwards, and returns its pairs in ascending order.
  Pairs pairs() const {
    Pairs found;
    long x = leftSize_, y = rightSize_;
    for (long d = static_cast<long>(history_.size()) - 1; d > 0; --d) {
      const std::vector<long> &before = history_[static_cast<std::size_t>(d - 1)];
      const auto at = [&](long k) { return before[static_cast<std::size_t>(k + maxEdits_ + 1)]; };
      const long k = x - y;
      const bool down = goesDown(before, maxEdits_, k, d);
      const long fromK = down ? k + 1 : k - 1, fromX = at(fromK), fromY = fromX - fromK;
      const long startX = down ? fromX : fromX + 1;
      for (; x > startX; --x, --y)
        found.emplace_back(x - 1, y - 1);
      x = fromX;
      y = fromY;
    }
    for (; x > 0 && y > 0; --x, --y)
      found.emplace_back(x - 1, y - 1);
    std::reverse(found.begin(), found.end());
    return found;
  }

private:
  /// True if, in step `d`, an insertion (from diagonal k + 1) reaches further on diagonal `k` than a deletion.
  static bool goesDown(const std::vector<long> &furthest, long maxEdits, long k, long d) {
    const auto at = [&](long i) { return furthest[static_cast<std::size_t>(i + maxEdits + 1)]; };
    return k == -d || (k != d && at(k - 1) < at(k + 1));
  }

  const long leftSize_, rightSize_;
  const std::function<bool(std::size_t, std::size_t)> &equal_;
  std::vector<std::vector<long>> history_;
  long maxEdits_ = 0;
};

} // namespace

Pairs alignSequences(std::size_t leftSize, std::size_t rightSize,
                     const std::function<bool(std::size_t, std::size_t)> &equal, std::size_t maxEdits) {
  const std::size_t shorter = std::min(leftSize, rightSize);
  std::size_t prefix = 0, suffix = 0;
  while (prefix < shorter && equal(prefix, prefix))
    ++prefix;
  while (suffix < shorter - prefix && equal(leftSize - suffix - 1, rightSize - suffix - 1))
    ++suffix;

  Pairs found;
  for (std::size_t i = 0; i < prefix; ++i)
    found.emplace_back(i, i);
  const std::size_t left = leftSize - prefix - suffix, right = rightSize - prefix - suffix;
  if (left != 0 && right != 0) {
    const std::function<bool(std::size_t, std::size_t)> equalInside = [&](std::size_t i, std::size_t j) {
      return equal(prefix + i, prefix + j);
    };
    Search search(left, right, equalInside);
    if (search.run(static_cast<long>(maxEdits))) {
      for (const auto &[i, j] : search.pairs())
        found.emplace_back(prefix + i, prefix + j);
    } else {
      for (std::size_t i = 0; i < std::min(left, right); ++i)
        if (equalInside(i, i))
          found.emplace_back(prefix + i, prefix + i);
    }
  }
  for (std::size_t i = suffix; i > 0; --i)
    found.emplace_back(leftSize - i, rightSize - i);
  return found;
}

} // namespace mscclc::json
