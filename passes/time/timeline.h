// What a walk over a program found: when each operation ran, and why then.
#pragma once

#include "passes/time/fluid.h"

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

namespace mscclc::passes::time {

/// What time goes by for.
enum class Cause : std::uint8_t {
#define CAUSE(name, words) name,
#include "passes/time/causes.def"
};
/// "link out", "latency", …
std::string_view toString(Cause cause);
inline constexpr std::size_t causeCount = 0
#define CAUSE(name, words) +1
#include "passes/time/causes.def"
    ;

/// A span, or what one thread did of it.
struct SpanPart {
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t span = none;   ///< none: nothing
  std::uint32_t thread = none; ///< none: all of the span
};

/// An operation of a block as it ran, or what a proxy did of it.
struct Span {
  static constexpr std::uint32_t none = SpanPart::none;
  std::uint32_t rank = 0;
  std::uint32_t block = 0; ///< or the port channel, if a proxy ran it
  std::uint32_t op = 0;    ///< index into ThreadBlock::ops; of the block that asked, if a proxy ran it
  std::uint32_t iteration = 0;
  bool proxy = false;
  Cause bound = Cause::Latency; ///< what the time from `moving` to `end` went by for
  Time start = 0;
  Time moving = 0; ///< when data began to flow, or the first thread came to its part; before that it is latency
  Time end = 0;
  SpanPart before;            ///< whose end let this one start
  SpanPart awaited;           ///< whose end let this one end, if it waited for another block's or a proxy's
  std::uint32_t parts = none; ///< index into Timeline::parts, for operations that threads do each by itself
  std::uint32_t numParts = 0;
  std::uint64_t bytes = 0; ///< payload
};

/// What one thread did of a span, from when it came to it. The span starts with the operation and ends with the last of
/// its parts.
struct ThreadPart {
  Time start = 0, end = 0;
  SpanPart before, awaited; ///< as of a span
};

/// A resource of the machine and what went through it.
struct Traffic {
  Cause kind = Cause::LinkOut;
  std::uint32_t rank = 0;
  std::uint32_t peer = Span::none; ///< of a link between two GPUs
  double bytes = 0;                ///< as the resource counts them: line bytes
  double capacity = 0;             ///< bytes a nanosecond
};

/// What one span let another go on by: a signal, a semaphore's release, a packet.
struct Message {
  std::uint32_t from = Span::none, to = Span::none;
};

/// How fast a resource is used from a moment on.
struct Rate {
  Time at = 0;
  std::uint32_t traffic = 0; ///< index into Timeline::traffic
  double rate = 0;           ///< bytes a nanosecond
};

struct Timeline {
  std::vector<Span> spans;       ///< in the order in which they began to be looked at
  std::vector<ThreadPart> parts; ///< of one span by thread
  std::vector<Message> messages; ///< where they were asked for
  std::vector<Rate> rates;       ///< the same, in order of time
  std::vector<Traffic> traffic;
  Time end = 0;                    ///< of the launch, when every block is done
  std::uint32_t last = Span::none; ///< the span that ended last
  bool complete = true;            ///< false: some block waits for ever
};

/// A stretch of the critical path: what a span did from `from` to `to`.
struct PathStep {
  std::uint32_t span = Span::none; ///< none: the launch
  Cause cause = Cause::Launch;
  Time from = 0, to = 0;
};
/// From the launch to the end: what each moment was spent on. Steps touch each other.
std::vector<PathStep> criticalPath(const Timeline &timeline);

/// What each span is bound by: on the critical path what most of its time there went by for, elsewhere Span::bound.
std::vector<Cause> boundsOf(const Timeline &timeline, const std::vector<PathStep> &path);

} // namespace mscclc::passes::time
