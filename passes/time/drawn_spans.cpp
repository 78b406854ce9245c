#include "passes/time/drawn_spans.h"

#include "ir/containers.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace mscclc::passes::time {

std::vector<DrawnSpan> drawnSpans(const Timeline &timeline) {
  const auto &spans = timeline.spans;
  std::vector<DrawnSpan> drawn;
  drawn.reserve(spans.size());
  for (const Span &span : spans) {
    const std::int64_t start = std::llround(span.start);
    drawn.push_back({start, std::max<std::int64_t>(std::llround(span.end), start + 1)});
  }
  // If spans begin together, the longest comes first, so that the others nest in it.
  const std::vector<std::uint32_t> order = ir::sortedBy(
      ir::numbersBelow(spans.size()), [&](std::uint32_t s) { return std::pair(drawn[s].start, -drawn[s].end); });
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
    self.depth = track[self.lane].size();
    track[self.lane].push_back(self.end);
  }
  return drawn;
}

} // namespace mscclc::passes::time
