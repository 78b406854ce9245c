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
/// Returns "link out", "latency", ….
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
  std::uint32_t op = 0;    ///< index into ThreadBlock::ops; for a proxy's span, of the block that asked
  std::uint32_t iteration = 0;
  bool proxy = false;
  Cause bound = Cause::Latency; ///< the cause of the time from `moving` to `end`
  Time start = 0;
  Time moving =
      0; ///< the time when data began to flow, or when the first thread reached its part; before that it is latency
  Time end = 0;
  SpanPart before;            ///< the span whose end let this one start
  SpanPart awaited;           ///< the span of another block or a proxy whose end this one waited for, if any
  std::uint32_t parts = none; ///< index into Timeline::parts, for operations that threads do separately
  std::uint32_t numParts = 0;
  std::uint64_t bytes = 0; ///< payload
};

/// One thread's part of a span, from the time when the thread reached it. The span starts with the operation and ends
/// with the last of its parts.
struct ThreadPart {
  Time start = 0, end = 0;
  SpanPart before, awaited; ///< causes as in a span
};

/// A resource of the machine and its traffic.
struct Traffic {
  Cause kind = Cause::LinkOut;
  std::uint32_t rank = 0;
  std::uint32_t peer = Span::none; ///< other GPU of a link between two GPUs
  double bytes = 0;                ///< line bytes, as the resource counts them
  double capacity = 0;             ///< bytes a nanosecond
};

/// An event of one span that lets another continue: a signal, a semaphore's release, a packet.
struct Message {
  std::uint32_t from = Span::none, to = Span::none;
};

/// The rate of a resource from some time on.
struct Rate {
  Time at = 0;
  std::uint32_t traffic = 0; ///< index into Timeline::traffic
  double rate = 0;           ///< bytes a nanosecond
};

struct Timeline {
  std::vector<Span> spans;       ///< spans in the order in which they began
  std::vector<ThreadPart> parts; ///< parts of spans that threads do separately
  std::vector<Message> messages; ///< recorded on request
  std::vector<Rate> rates;       ///< recorded on request, in order of time
  std::vector<Traffic> traffic;
  /// Time when ranks begin to pack rows, and what the rank that ends last takes to unpack them.
  Time packs = std::numeric_limits<Time>::infinity(), unpacking = 0;
  Time end = 0;                    ///< time when all blocks have completed, and rows are unpacked
  std::uint32_t last = Span::none; ///< the span that ended last
  bool complete = true;            ///< false: some block waits forever
};

/// A part of the critical path: the activity of a span from `from` to `to`.
struct PathStep {
  std::uint32_t span = Span::none; ///< none: the launch, or rows are packed or unpacked
  Cause cause = Cause::Launch;
  Time from = 0, to = 0;
};
/// Returns the steps from the launch to the end, with the cause of all time. They are contiguous.
std::vector<PathStep> criticalPath(const Timeline &timeline);

/// Returns the cause that bounds each span. On the critical path it is the cause of most of the span's time there,
/// elsewhere Span::bound.
std::vector<Cause> boundsOf(const Timeline &timeline, const std::vector<PathStep> &path);

} // namespace mscclc::passes::time
