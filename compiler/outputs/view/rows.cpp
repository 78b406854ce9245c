#include "compiler/outputs/view/rows.h"

#include "passes/time/drawn_spans.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace mscclc::driver {

namespace time = passes::time;

Rows rowsOf(const time::Timeline &timeline) {
  const std::vector<time::DrawnSpan> drawn = time::drawnSpans(timeline);
  /// Identifies a row: the rank, whether it is of a proxy, the block, the lane, and the depth at which spans are
  /// nested.
  using Key = std::tuple<std::uint32_t, bool, std::uint32_t, std::uint32_t, std::size_t>;
  std::map<Key, Row> rows;
  for (std::uint32_t number = 0; number < drawn.size(); ++number) {
    const time::Span &span = timeline.spans[number];
    Row &row = rows[{span.rank, span.proxy, span.block, drawn[number].lane, drawn[number].depth}];
    row.rank = span.rank;
    row.proxy = span.proxy;
    row.block = span.block;
    row.spans.push_back(number);
  }

  Rows result;
  for (auto &[key, row] : rows) {
    std::ranges::sort(row.spans, {}, [&](std::uint32_t span) { return drawn[span].start; });
    result.rows.push_back(std::move(row));
  }
  for (const time::DrawnSpan &span : drawn) {
    result.start.push_back(span.start);
    result.end.push_back(span.end);
  }
  return result;
}

} // namespace mscclc::driver
