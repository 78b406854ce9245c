#include "passes/time/timeline.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <utility>

namespace mscclc::passes::time {

std::string_view toString(Cause cause) {
  static constexpr std::array<std::string_view, causeCount> words{
#define CAUSE(name, words) words,
#include "passes/time/causes.def"
  };
  return words[static_cast<std::size_t>(cause)];
}

namespace {
/// The times of a span or of one of its parts, and the spans that caused them. For a whole span, they are those of the
/// part that ended last.
struct Ran {
  Time start = 0, moving = 0, end = 0;
  SpanPart before, awaited;
};
Ran whenRan(const Timeline &timeline, SpanPart what) {
  const Span &span = timeline.spans[what.span];
  if (span.numParts == 0)
    return {span.start, span.moving, span.end, span.before, span.awaited};
  const auto parts = std::span(timeline.parts).subspan(span.parts, span.numParts);
  const auto byEnd = [](const ThreadPart &one, const ThreadPart &other) { return one.end < other.end; };
  const ThreadPart &part =
      what.thread != SpanPart::none ? parts[what.thread] : *std::max_element(parts.begin(), parts.end(), byEnd);
  return {part.start, part.start, part.end, part.before, part.awaited};
}
} // namespace

// Each step leads to a part of a span that was settled earlier in the walk, so the loop ends. A part is settled before
// all parts that wait for it, even where whole spans wait for each other.
std::vector<PathStep> criticalPath(const Timeline &timeline) {
  std::vector<PathStep> path; // the steps of the path, the last step first
  Time to = timeline.end;
  SpanPart at{timeline.last};
  bool asked = false;
  const auto add = [&](Cause cause, Time from) {
    from = std::min(from, to);
    if (from < to)
      path.push_back({at.span, cause, from, to});
    to = from;
  };
  const std::uint32_t last = std::exchange(at.span, Span::none);
  add(Cause::Packing, timeline.end - timeline.unpacking);
  at.span = last;
  while (at.span != Span::none) {
    const Span &span = timeline.spans[at.span];
    const Ran ran = whenRan(timeline, at);
    // The path goes from a proxy's span to the span that made the request. If that span waits, it waits after the
    // request, so the wait is not on the path.
    if (ran.awaited.span != Span::none && !asked) {
      // The path continues at the span that ended the wait. From the end of that span until this span went on, the
      // signal was on its way.
      add(Cause::Latency, whenRan(timeline, ran.awaited).end);
      at = ran.awaited;
      continue;
    }
    add(span.bound, ran.moving);
    add(span.bound == Cause::Sync ? Cause::Sync : Cause::Latency, ran.start);
    if (ran.before.span != Span::none) // between two operations, the executor decodes the second one
      add(span.proxy ? Cause::Proxy : Cause::Decode, whenRan(timeline, ran.before).end);
    asked = span.proxy;
    at = ran.before;
  }
  add(Cause::Packing, timeline.packs);
  add(Cause::Launch, 0);
  std::reverse(path.begin(), path.end());
  return path;
}

std::vector<Cause> boundsOf(const Timeline &timeline, const std::vector<PathStep> &path) {
  std::vector<Cause> bounds;
  for (const Span &span : timeline.spans)
    bounds.push_back(span.bound);
  std::map<std::uint32_t, std::array<Time, causeCount>> spent;
  for (const PathStep &step : path)
    if (step.span != Span::none)
      spent[step.span][static_cast<std::size_t>(step.cause)] += step.to - step.from;
  for (const auto &[span, times] : spent)
    bounds[span] = static_cast<Cause>(std::max_element(times.begin(), times.end()) - times.begin());
  return bounds;
}

} // namespace mscclc::passes::time
