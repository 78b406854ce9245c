// The number of threads of a block in an emitted kernel.
#pragma once

#include "ir/program.h"

namespace mscclc::ir {

/// Returns the program's number of threads, limited by registers: a multiprocessor has 65536, and each thread needs
/// those of its loops. A reduction of packets holds a packet from each of 8 sources, their addresses and those of its
/// targets. It takes 128 registers, so at most 512 threads. Other reductions take 80, so 768 threads. Programs that
/// only move data take 64, so 1024 threads.
std::uint32_t kernelThreads(const Program &program);

} // namespace mscclc::ir
