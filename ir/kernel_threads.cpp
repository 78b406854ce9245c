#include "ir/kernel_threads.h"

#include "ir/op_semantics.h"

#include <algorithm>

namespace mscclc::ir {

std::uint32_t kernelThreads(const Program &program) {
  constexpr std::uint32_t reducingPackets = 512, reducing = 768;
  std::uint32_t threads = program.threadsPerBlock;
  for (const Rank &rank : program.ranks)
    for (const ThreadBlock &block : rank.blocks)
      for (const Op &op : block.ops)
        if (reduces(op.kind))
          threads = std::min(threads, isPacketOp(op.kind) ? reducingPackets : reducing);
  return threads;
}

} // namespace mscclc::ir
