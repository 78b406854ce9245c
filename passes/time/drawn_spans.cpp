#include "passes/time/drawn_spans.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

namespace mscclc::passes::time {

std::vector<DrawnSpan> drawnSpans(const Timeline &timeline) {
  const auto &spans = timeline.spans;
  std::vector<DrawnSpan> drawn;
  drawn.reserve(spans.size());
  for (const Span &span : spans) {
    const std::int64_t start = std::llround(span.start);
    drawn.push_back({start, std::max<std::int64_t>(std::llround(span.end), start + 1), 0});
  }
  std::vector<std::uint32_t> order(spans.size());
  std::iota(order.begin(), order.end(), 0u);
  // Of spans that begin together, the longest comes first, so that the others nest in it.
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tuple(drawn[a].start, -drawn[a].end) < std::tuple(drawn[b].start, -drawn[b].end);
  });
  /// The ends of the open spans of a lane, the innermost last.
  using Open = std::vector<std::int64_t>;
  std::map<std::tuple<std::uint32_t, bool, std::uint32_t>, std::vector<Open>> tracks;
  for (const std::uint32_t number : order) {
    const Span &span = spans[number];
    DrawnSpan &self = drawn[number];
    std::vector<Open> &track = tracks[{span.rank, span.proxy, span.block}];
    for (;; ++self.lane) {
      if (self.lane == track.size())
        track.emplace_back();
      Open &open = track[self.lane];
      while (!open.empty() && open.back() <= self.start)
        open.pop_back();
      if (open.empty() || self.end <= open.back())
        break;
    }
    track[self.lane].push_back(self.end);
  }
  return drawn;
}

} // namespace mscclc::passes::time
