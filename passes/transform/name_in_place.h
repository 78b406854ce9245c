// Renames chunks of an in-place collective so that the executor finds the right memory.
#pragma once

#include "ir/program.h"

#include <cstdint>

namespace mscclc::passes {

/// If a collective is in place, AllGather's input is a share of its output, and ReduceScatter's output is a share of
/// its input. If an operation names such a share on another rank, the executor applies the offset of the rank that runs
/// the operation. If a port sends from such a share, the executor applies no offset (executor.cc registers whole
/// allocations; execution_plan.cc, setupOperation, adds constSrcOffset and constDstOffset). Both are wrong. So these
/// chunks are renamed as chunks of the larger buffer, which is right on every rank. Operations on local memory use the
/// address of the share itself and are not changed. Returns the number of renamed chunks.
std::uint64_t nameInPlace(ir::Program &program);

} // namespace mscclc::passes
