// The number of threads of a block in an emitted kernel.
#pragma once

#include "ir/program.h"

namespace mscclc::ir {

/// Returns the program's number of threads, limited by registers. A multiprocessor has 65536 registers. A reduction of
/// packets takes 128 of them in each thread, so at most 512 threads: it holds a packet from each of 8 sources, and the
/// addresses of sources and targets. Other reductions take 80, so 768 threads. Programs that only move data take 64, so
/// 1024 threads.
std::uint32_t kernelThreads(const Program &program);

} // namespace mscclc::ir
