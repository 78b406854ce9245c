// Reads the operations in a trace. It is a trace of MSCCL++'s NPKit (after its npkit_trace_generator) or of
// --emit-trace.
//
// Both have a process for each rank, and a thread for each block. The threads are numbered from 1. NPKit writes events
// B and E with names like NPKIT_EVENT_EXECUTOR_PUT_ENTRY, which thread 0 of the block times. It records at most 64
// events of a block in a launch (npkit.hpp). A trace may contain several launches, one after the other. --emit-trace
// writes events X with the names of this compiler's operations.
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

/// The most operations of a block that NPKit records in a launch. It records 64 events: two for clocks, and two for
/// each operation.
inline constexpr std::size_t npkitOperations = 31;

struct MeasuredOp {
  static constexpr std::uint32_t launch = ~std::uint32_t{0};
  /// Index into MeasuredTrace::names. `launch`: this is no operation, but the beginning of a launch.
  std::uint32_t name = 0;
  Time start = 0, end = 0;
};

/// The data that --emit-trace adds about its launch ('otherData'). Other tools do not write it.
struct TracedLaunch {
  std::optional<std::string> program, machine, runner;
  std::optional<std::uint64_t> bytes, scheduledFor; ///< message sizes in bytes: of the launch, and of the scheduling
};

struct MeasuredTrace {
  std::vector<std::string> names; ///< names of operations: "PUT" in NPKit, "put" in --emit-trace
  /// (rank, block) → operations, sorted by their start.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<MeasuredOp>> blocks;
  bool npkit = false;       ///< true if the names are those of NPKit
  std::uint64_t others = 0; ///< number of events that are no operations of a block, or have no end
  TracedLaunch launch;
};

/// A fault in a trace.
struct TraceError {
  std::string message;
};

/// Reads Chrome trace events: a list, or an object with 'traceEvents'. Throws TraceError, which names the event.
MeasuredTrace readTrace(std::string_view json);

/// True if a trace may use `name` for operations of `kind`. It may be the name of the NPKit event, of the call in the
/// language, or of the operation in a plan.
bool isNameOf(std::string_view name, ir::OpKind kind);

} // namespace mscclc::passes::time
