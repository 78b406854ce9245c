// Where chunks lie in memory: aliasing of input and output when a collective is in place.
#pragma once

#include "ir/program.h"

namespace mscclc::ir {

/// A local place with in-place aliasing resolved: two chunks of a rank overlap in memory exactly if their canonical
/// buffers are the same and their ranges meet. Scratch packets are a second scale over the same memory: packet chunk k
/// covers plain chunks [2k, 2k + 2).
struct CanonicalPlace {
  BufferKind buffer;
  std::uint32_t index;
};

/// Canonical place of chunk `index` of `buffer` on `rank`.
/// In place, AllGather's input of rank r is the r-th share of its output; ReduceScatter's output is the r-th share of
/// its input; every other collective has one buffer for both (execution_plan.cc, calcInputOffset and friends).
inline CanonicalPlace canonicalPlace(const Program &program, std::uint32_t rank, BufferKind buffer,
                                     std::uint32_t index) {
  if (!program.collective.inplace || buffer == BufferKind::Scratch)
    return {buffer, index};
  const Rank &r = program.ranks[rank];
  switch (program.collective.kind) {
  case CollectiveKind::AllGather:
    return buffer == BufferKind::Input ? CanonicalPlace{BufferKind::Output, rank * r.inputChunks + index}
                                       : CanonicalPlace{BufferKind::Output, index};
  case CollectiveKind::ReduceScatter:
    return buffer == BufferKind::Output ? CanonicalPlace{BufferKind::Input, rank * r.outputChunks + index}
                                        : CanonicalPlace{BufferKind::Input, index};
  default:
    return {BufferKind::Input, index};
  }
}

} // namespace mscclc::ir
