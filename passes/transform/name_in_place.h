// Names chunks of an in-place collective as an executor finds them.
#pragma once

#include "ir/program.h"

#include <cstdint>

namespace mscclc::passes {

/// In place, AllGather's input is a share of its output, and ReduceScatter's output a share of its input. The executor
/// finds such a share by an offset of the rank that runs the operation, where it is another rank's buffer, and by none,
/// where a port sends from it (executor.cc registers whole allocations; execution_plan.cc, setupOperation, adds
/// constSrcOffset and constDstOffset). Those chunks are named as chunks of the larger buffer instead: there it is right
/// on every rank. Local memory operations get the buffer's own address and stay as they are. Returns how many chunks
/// got another name.
std::uint64_t nameInPlace(ir::Program &program);

} // namespace mscclc::passes
