// How many thread blocks of a rank a GPU holds at once. Blocks that wait for one another must all be there, or those
// that run wait for ever for those that never begin: no launch is cooperative, neither the executor's nor one of our
// own.
#pragma once

#include "ir/program.h"
#include "passes/executor_limits.h"
#include "passes/gpu_limits.h"

#include <cstdint>
#include <string>

namespace mscclc::passes {

/// What is known of the GPU that a program will run on.
struct Residency {
  std::string machine;       ///< "h100x8"
  bool isAssumed = false;    ///< nobody named the machine
  std::uint32_t threads = 0; ///< of a block
  std::uint64_t blocks = 0;  ///< of a rank, at once
};

/// Threads of a block where `executor` runs the program, or a kernel of its own where that is null. Of a program that
/// is not in thread blocks yet: at most so many.
std::uint32_t threadsOfBlock(const ir::Program &program, const ExecutorLimits *executor);

/// Most blocks of a rank that a GPU holds at once. A kernel of the program's own is compiled so that as many fit as
/// its threads allow (secondLaunchBound()).
std::uint64_t residentBlocks(const ir::Program &program, const GpuLimits &gpu, const ExecutorLimits *executor);

/// How many blocks of a kernel of the program's own each multiprocessor has to hold, where that can be: the second
/// launch bound. Else as many as it can.
std::uint32_t secondLaunchBound(const ir::Program &program, const GpuLimits &gpu);

/// True if a block of the rank waits for another one, of whichever rank.
bool waitsForOthers(const ir::Rank &rank);

} // namespace mscclc::passes
