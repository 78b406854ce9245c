// Operations in a trace of MSCCL++'s NPKit (after its npkit_trace_generator) or of --emit-trace.
//
// Both have a process for each rank and a thread for each block, numbered from 1. NPKit has events B and E with names
// like NPKIT_EVENT_EXECUTOR_PUT_ENTRY, timed by thread 0 of the block. It has at most 64 events of a block and launch
// (npkit.hpp), and launches follow one another. --emit-trace has events X with the names of our operations.
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

/// The most operations of a block and launch in NPKit: 64 events, two of them for its clocks.
inline constexpr std::size_t npkitOperations = 31;

struct MeasuredOp {
  static constexpr std::uint32_t launch = ~std::uint32_t{0};
  std::uint32_t name =
      0; ///< index into MeasuredTrace::names; `launch`: it is no operation, but the beginning of a launch
  Time start = 0, end = 0;
};

/// The data that --emit-trace adds about its launch ('otherData'). Other tools do not write it.
struct TracedLaunch {
  std::optional<std::string> program, machine, runner;
  std::optional<std::uint64_t> bytes, scheduledFor; ///< bytes of the message
};

struct MeasuredTrace {
  std::vector<std::string> names; ///< "PUT" of NPKit, "put" of --emit-trace
  /// (rank, block) → operations, sorted by their start.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<MeasuredOp>> blocks;
  bool npkit = false;       ///< names are NPKit's
  std::uint64_t others = 0; ///< events that are not operations: proxies, connections, and those without an end
  TracedLaunch launch;
};

/// A fault in a trace.
struct TraceError {
  std::string message;
};

/// Reads Chrome trace events: a list, or an object with 'traceEvents'. Throws TraceError, which names the event.
MeasuredTrace readTrace(std::string_view json);

/// True if a trace may use this name for `kind`: the name of its event, of the language or of the plan.
bool isNameOf(std::string_view name, ir::OpKind kind);

} // namespace mscclc::passes::time
