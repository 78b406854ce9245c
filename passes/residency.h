// The number of a rank's thread blocks that a GPU holds at once. Blocks that wait for each other must all be resident.
// Otherwise the running blocks wait for ever, because the others cannot begin. Neither the executor's launches nor our
// own are cooperative, so CUDA does not check this.
#pragma once

#include "ir/program.h"
#include "passes/executor_limits.h"
#include "passes/gpu_limits.h"

#include <cstdint>
#include <string>

namespace mscclc::passes {

/// The properties of the GPU on which a program will run.
struct Residency {
  std::string machine;       ///< "h100x8"
  bool isAssumed = false;    ///< no option or program names the machine
  std::uint32_t threads = 0; ///< threads of a block
  std::uint64_t blocks = 0;  ///< blocks of a rank that are resident at once
};

/// Returns the number of threads in a block, if `executor` runs the program. Null: the program is a separate kernel.
/// Returns an upper limit if the program has no thread blocks yet.
std::uint32_t threadsOfBlock(const ir::Program &program, const ExecutorLimits *executor);

/// Returns the most blocks of a rank that a GPU holds at once. For a separate kernel, only its threads limit this
/// number (secondLaunchBound()).
std::uint64_t residentBlocks(const ir::Program &program, const GpuLimits &gpu, const ExecutorLimits *executor);

/// Returns the second launch bound of a separate kernel: the number of blocks that each multiprocessor must hold, if
/// that is possible; otherwise as many as possible.
std::uint32_t secondLaunchBound(const ir::Program &program, const GpuLimits &gpu);

/// True if a block of the rank waits for another block, on any rank.
bool waitsForOthers(const ir::Rank &rank);

} // namespace mscclc::passes
