// Operations as a trace shows them: MSCCL++'s NPKit after its npkit_trace_generator, or --emit-trace.
//
// Both have a process for each rank and a thread for each block, numbered from 1. NPKit has events B and E by the names
// NPKIT_EVENT_EXECUTOR_PUT_ENTRY and so on, timed by thread 0 of the block, and at most 64 events of a block and launch
// (npkit.hpp); launches follow one another. Ours has events X by the names of our operations.
#pragma once

#include "passes/time/fluid.h"

#include "ir/program.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mscclc::passes::time {

/// Operations of a block and launch that NPKit has room for: 64 events, two of them for its clocks.
inline constexpr std::size_t npkitOperations = 31;

struct MeasuredOp {
  static constexpr std::uint32_t launch = ~std::uint32_t{0};
  std::uint32_t name = 0; ///< index into MeasuredTrace::names; `launch`: no operation, a launch begins
  Time start = 0, end = 0;
};

/// What --emit-trace writes of its launch beside the events ('otherData'). Other tools write none of it.
struct TracedLaunch {
  std::optional<std::string> program, machine, runner;
  std::optional<std::uint64_t> bytes, scheduledFor; ///< of the message
};

struct MeasuredTrace {
  std::vector<std::string> names; ///< "PUT" of NPKit, "put" of ours
  /// (rank, block) -> operations by their start.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<MeasuredOp>> blocks;
  bool npkit = false;       ///< names are NPKit's
  std::uint64_t others = 0; ///< events of no operation: proxies, connections, what never ends
  TracedLaunch launch;
};

/// What is wrong with a trace.
struct TraceError {
  std::string message;
};

/// Reads Chrome trace events: a list, or an object with 'traceEvents'. Throws TraceError, which names the event.
MeasuredTrace readTrace(std::string_view json);

/// True if a trace may show `kind` by this name: its event's, the language's or the plan's.
bool isNameOf(std::string_view name, ir::OpKind kind);

} // namespace mscclc::passes::time
