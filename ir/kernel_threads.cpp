#include "ir/kernel_threads.h"

#include "ir/op_semantics.h"

#include <algorithm>

namespace mscclc::ir {

std::uint32_t kernelThreads(const Program &program) {
  constexpr std::uint32_t reducingPackets = 512, reducing = 768;
  std::uint32_t threads = program.threadsPerBlock;
  for (const Op &op : opsOf(program.ranks))
    if (reduces(op.kind))
      threads = std::min(threads, isPacketOp(op.kind) ? reducingPackets : reducing);
  return threads;
}

} // namespace mscclc::ir
