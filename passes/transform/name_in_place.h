// Names chunks of an in-place collective so that an executor finds them.
#pragma once

#include "ir/program.h"

#include <cstdint>

namespace mscclc::passes {

/// In place, AllGather's input is a share of its output, and ReduceScatter's output is a share of its input. If such a
/// share is another rank's buffer, the executor applies the offset of the rank that runs the operation. If a port sends
/// from it, the executor applies no offset (executor.cc registers whole allocations; execution_plan.cc, setupOperation,
/// adds constSrcOffset and constDstOffset). Both are wrong. So such chunks are named as chunks of the larger buffer,
/// which is right on every rank. Local memory operations use the buffer's own address and are unchanged. Returns the
/// number of renamed chunks.
std::uint64_t nameInPlace(ir::Program &program);

} // namespace mscclc::passes
