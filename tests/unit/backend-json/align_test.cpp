#include "backend-json/align.h"
#include "catch.h"

#include <random>
#include <string>

using mscclc::json::alignSequences;

namespace {
using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

Pairs align(const std::string &left, const std::string &right, std::size_t maxEdits = 128) {
  return alignSequences(
      left.size(), right.size(), [&](std::size_t i, std::size_t j) { return left[i] == right[j]; }, maxEdits);
}

/// Length of the longest common subsequence, the slow way.
std::size_t longestCommon(const std::string &left, const std::string &right) {
  std::vector<std::vector<std::size_t>> best(left.size() + 1, std::vector<std::size_t>(right.size() + 1, 0));
  for (std::size_t i = 1; i <= left.size(); ++i)
    for (std::size_t j = 1; j <= right.size(); ++j)
      best[i][j] = left[i - 1] == right[j - 1] ? best[i - 1][j - 1] + 1 : std::max(best[i - 1][j], best[i][j - 1]);
  return best[left.size()][right.size()];
}

void checkPairs(const Pairs &pairs, const std::string &left, const std::string &right) {
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    CHECK(left[pairs[k].first] == right[pairs[k].second]);
    if (k != 0) {
      CHECK(pairs[k].first > pairs[k - 1].first);
      CHECK(pairs[k].second > pairs[k - 1].second);
    }
  }
}
} // namespace

TEST_CASE("an inserted element leaves the others together") {
  CHECK(align("abc", "abxc") == Pairs{{0, 0}, {1, 1}, {2, 3}});
  CHECK(align("abc", "") == Pairs{});
  CHECK(align("abc", "abc") == Pairs{{0, 0}, {1, 1}, {2, 2}});
}

TEST_CASE("alignments are as long as can be") {
  const unsigned seed = 7;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 400; ++round) {
    const auto word = [&] {
      std::string made(random() % 14, ' ');
      for (char &c : made)
        c = static_cast<char>('a' + random() % 3);
      return made;
    };
    const std::string left = word(), right = word();
    INFO(left << " and " << right);
    const Pairs pairs = align(left, right);
    CHECK(pairs.size() == longestCommon(left, right));
    checkPairs(pairs, left, right);
  }
}

TEST_CASE("sequences far apart are paired where equal elements meet") {
  const std::string left = "xabcdefy", right = "xbbdcefz";
  const Pairs pairs = align(left, right, 2);
  checkPairs(pairs, left, right);
  CHECK(pairs == Pairs{{0, 0}, {2, 2}, {5, 5}, {6, 6}});
}
