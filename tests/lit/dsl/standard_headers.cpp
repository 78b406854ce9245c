// The standard library, as far as it computes.
// RUN: mscclc %s -O0 --no-verify --trace-timeout=120 | FileCheck %s
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mscclc/dsl.hpp>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>
using namespace mscclc;

/// The order in which the ranks of a power of two meet, nearest first.
static std::vector<std::pair<int, int>> meetings(int ranks) {
  std::set<std::tuple<int, int, int>> sorted;
  for (int a = 0; a < ranks; ++a)
    for (int bit = 0; bit < std::bit_width(static_cast<unsigned>(ranks)) - 1; ++bit)
      sorted.emplace(bit, a, a ^ (1 << bit));
  std::vector<std::pair<int, int>> result;
  for (const auto &[distance, from, to] : sorted)
    result.emplace_back(from, to);
  return result;
}

template <typename T> concept Number = std::is_arithmetic_v<T>;
static int half(Number auto n) { return static_cast<int>(std::lround(std::floor(n / 2.0))); }

MSCCLC_ALGORITHM void f(int ranks = 4, std::string_view prefix = "plan") {
  std::string name = std::string(prefix) + "_" + std::to_string(ranks);
  std::ranges::transform(name, name.begin(), [](char c) { return c == 'p' ? 'P' : c; });
  CollectiveProgram program(name, AllGather(ranks, 1, true));
  std::map<std::pair<int, int>, MemoryChannel> channels;
  std::unordered_map<int, int> uses;
  for (const auto &[from, to] : meetings(ranks)) {
    channels.try_emplace({from, to}, to, from);
    ++uses[from];
  }
  std::array<int, 3> offsets{};
  std::iota(offsets.begin(), offsets.end(), half(7));
  const std::span<const int> view(offsets);
  const std::optional<int> last = view.empty() ? std::nullopt : std::optional(view.back());
  const std::variant<int, std::string> block = *std::min_element(view.begin(), view.end());
  const std::function<int(int)> next = [&](int rank) { return (rank + 1) % ranks; };
  const auto number = std::make_unique<int>(std::accumulate(view.begin(), view.end(), 0));
  // CHECK: "name": "Plan_4"
  // CHECK: "name": "put", "src_buff": [{"type": "o", "index": 0, "size": 1}], "dst_buff": [{"buffer_id": 0, "index": 0, "size": 1}]
  // CHECK: "name": "nop"
  for (auto &[ends, channel] : channels)
    channel.put(Rank(ends.second).output()[ends.first], Rank(ends.first).output()[ends.first],
                tb(std::get<int>(block) - 3 + uses.at(ends.first) - 2 + *number - 12 + *last - 5));
  Rank(next(ranks - 1)).barrier({0});
  static_assert(std::numeric_limits<std::int64_t>::max() > 0);
}
