// The result of a walk through a program: the times of each operation, with their causes.
#pragma once

#include "passes/time/fluid.h"

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

namespace mscclc::passes::time {

/// The causes of spent time.
enum class Cause : std::uint8_t {
#define CAUSE(name, words) name,
#include "passes/time/causes.def"
};
/// Returns the name of a cause: "link out", "latency", ….
std::string_view toString(Cause cause);
inline constexpr std::size_t causeCount = 0
#define CAUSE(name, words) +1
#include "passes/time/causes.def"
    ;

/// A span, or one thread's part of it.
struct SpanPart {
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t span = none;   ///< none: nothing
  std::uint32_t thread = none; ///< none: the whole span
};

/// An operation of a block, or a proxy's part of one, with its times.
struct Span {
  static constexpr std::uint32_t none = SpanPart::none;
  std::uint32_t rank = 0;
  std::uint32_t block = 0; ///< number of the block, or of a proxy's port channel
  std::uint32_t op = 0;    ///< index into ThreadBlock::ops; for a proxy's span, into those of the requesting block
  std::uint32_t iteration = 0;
  bool proxy = false;
  Cause bound = Cause::Latency; ///< the cause of the time from `moving` to `end`
  Time start = 0;
  /// The time when data began to flow, or when the first thread reached its part. The time from `start` to `moving` is
  /// latency.
  Time moving = 0;
  Time end = 0;
  SpanPart before;            ///< the span whose end let this one start
  SpanPart awaited;           ///< the span of another block or of a proxy for whose end this span waited, if any
  std::uint32_t parts = none; ///< index into Timeline::parts, for operations that threads do separately
  std::uint32_t numParts = 0;
  std::uint64_t bytes = 0; ///< payload
};

/// One thread's part of a span. The part starts when the thread reaches it. The span starts when the block reaches the
/// operation, and ends with the last of its parts.
struct ThreadPart {
  Time start = 0, end = 0;
  SpanPart before, awaited; ///< the spans that caused its times, as in Span
};

/// A resource of the machine and its traffic.
struct Traffic {
  Cause kind = Cause::LinkOut;
  std::uint32_t rank = 0;
  std::uint32_t peer = Span::none; ///< the other GPU, if the resource is a link between two GPUs
  double bytes = 0;                ///< bytes on the line, as the resource counts them
  double capacity = 0;             ///< in bytes a nanosecond
};

/// An event of one span that lets another span continue: a signal, a semaphore's release, a packet.
struct Message {
  std::uint32_t from = Span::none, to = Span::none;
};

/// A change of the rate of a resource: from time `at` on, the resource carries `rate`.
struct Rate {
  Time at = 0;
  std::uint32_t traffic = 0; ///< index into Timeline::traffic
  double rate = 0;           ///< in bytes a nanosecond
};

struct Timeline {
  std::vector<Span> spans;       ///< spans in the order in which they began
  std::vector<ThreadPart> parts; ///< parts of spans that threads do separately
  std::vector<Message> messages; ///< recorded on request
  std::vector<Rate> rates;       ///< recorded on request, in order of time
  std::vector<Traffic> traffic;
  /// The time at which ranks begin to pack rows (infinity if they pack none), and the time that the rank which ends
  /// last takes to unpack its rows.
  Time packs = std::numeric_limits<Time>::infinity(), unpacking = 0;
  Time end = 0;                    ///< time when all blocks have completed, and rows are unpacked
  std::uint32_t last = Span::none; ///< the span that ended last
  bool complete = true;            ///< false if some block waits forever
};

/// A part of the critical path: the activity of a span from `from` to `to`.
struct PathStep {
  std::uint32_t span = Span::none; ///< none: the time of the launch itself, or of packing or unpacking rows
  Cause cause = Cause::Launch;
  Time from = 0, to = 0;
};
/// Returns the critical path from the launch to the end. Its steps are contiguous, and each has its cause.
std::vector<PathStep> criticalPath(const Timeline &timeline);

/// Returns the cause that bounds each span. For a span on the critical path, it is the cause of most of the span's time
/// there. For another span, it is Span::bound.
std::vector<Cause> boundsOf(const Timeline &timeline, const std::vector<PathStep> &path);

} // namespace mscclc::passes::time
