#include "compiler/outputs/view/rows.h"

#include "passes/time/drawn_spans.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace mscclc::driver {

namespace time = passes::time;

Rows rowsOf(const time::Timeline &timeline) {
  const std::vector<time::DrawnSpan> drawn = time::drawnSpans(timeline);
  std::vector<std::uint32_t> order(drawn.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tuple(drawn[a].start, -drawn[a].end) < std::tuple(drawn[b].start, -drawn[b].end);
  });

  /// A row for each depth of nesting of a lane's spans.
  using Key = std::tuple<std::uint32_t, bool, std::uint32_t, std::uint32_t, std::size_t>; // …, lane, depth
  std::map<Key, Row> rows;
  std::map<std::tuple<std::uint32_t, bool, std::uint32_t, std::uint32_t>, std::vector<std::int64_t>> open;
  for (const std::uint32_t number : order) {
    const time::Span &span = timeline.spans[number];
    const time::DrawnSpan &self = drawn[number];
    std::vector<std::int64_t> &ends = open[{span.rank, span.proxy, span.block, self.lane}];
    while (!ends.empty() && ends.back() <= self.start)
      ends.pop_back();
    Row &row = rows[{span.rank, span.proxy, span.block, self.lane, ends.size()}];
    row.rank = span.rank;
    row.proxy = span.proxy;
    row.block = span.block;
    row.spans.push_back(number);
    ends.push_back(self.end);
  }

  Rows result;
  for (auto &[key, row] : rows)
    result.rows.push_back(std::move(row));
  for (const time::DrawnSpan &span : drawn) {
    result.start.push_back(span.start);
    result.end.push_back(span.end);
  }
  return result;
}

} // namespace mscclc::driver
