#include "passes/time/timeline.h"

#include <algorithm>
#include <array>

namespace mscclc::passes::time {

std::string_view toString(Cause cause) {
  static constexpr std::array<std::string_view, causeCount> words{
#define CAUSE(name, words) words,
#include "passes/time/causes.def"
  };
  return words[static_cast<std::size_t>(cause)];
}

std::vector<PathStep> criticalPath(const Timeline &timeline) {
  std::vector<PathStep> path; // from the end backwards
  Time to = timeline.end;
  std::uint32_t at = timeline.last;
  bool asked = false;
  const auto add = [&](std::uint32_t span, Cause cause, Time from) {
    from = std::min(from, to);
    if (from < to)
      path.push_back({span, cause, from, to});
    to = from;
  };
  while (at != Span::none) {
    const Span &span = timeline.spans[at];
    // A proxy was asked by the span before it: what that waits for comes after.
    if (span.awaited != Span::none && !asked) {
      // Whoever let it end is on the path; between that end and this one the news was under way.
      add(at, Cause::Latency, timeline.spans[span.awaited].end);
      at = span.awaited;
      continue;
    }
    add(at, span.bound, span.moving);
    add(at, span.bound == Cause::Sync ? Cause::Sync : Cause::Latency, span.start);
    if (span.before != Span::none) // between an operation and the next the executor decodes
      add(at, span.proxy ? Cause::Proxy : Cause::Decode, timeline.spans[span.before].end);
    asked = span.proxy;
    at = span.before;
  }
  add(Span::none, Cause::Launch, 0);
  std::reverse(path.begin(), path.end());
  return path;
}

} // namespace mscclc::passes::time
