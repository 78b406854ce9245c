// How many threads a block of a kernel of the program's own has, at most.
#pragma once

#include "ir/program.h"

namespace mscclc::ir {

/// As many as the program says, but no more than leave a thread the registers that its loops take: a multiprocessor
/// has 65536. A reduction of packets holds a packet of each of 8 sources, their addresses and those of its targets:
/// 128 registers, 512 threads. Other reductions take 80, 768 threads. What only moves takes 64, 1024 threads.
std::uint32_t kernelThreads(const Program &program);

} // namespace mscclc::ir
