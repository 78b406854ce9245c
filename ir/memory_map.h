// Where chunks lie in memory: aliasing of input and output when a collective is in place.
#pragma once

#include "ir/collectives.h"

namespace mscclc::ir {

/// A local place with in-place aliasing resolved: two chunks of a rank overlap in memory exactly if their canonical
/// buffers are the same and their ranges meet. Scratch packets are a second scale over the same memory: packet chunk k
/// covers plain chunks [2k, 2k + 2).
struct CanonicalPlace {
  BufferKind buffer;
  std::uint32_t index;
};

/// Canonical place of chunk `index` of `buffer` on `rank`.
inline CanonicalPlace canonicalPlace(const Program &program, std::uint32_t rank, BufferKind buffer,
                                     std::uint32_t index) {
  if (!program.collective.inplace || buffer == BufferKind::Scratch)
    return {buffer, index};
  const CollectiveKind kind = program.collective.kind;
  if (info(kind).inPlace == InPlace::OneBuffer)
    return {BufferKind::Input, index};
  const BufferKind share = shareInPlace(kind),
                   whole = share == BufferKind::Input ? BufferKind::Output : BufferKind::Input;
  return {whole, buffer == share ? rank * program.ranks[rank].chunksOf(share) + index : index};
}

} // namespace mscclc::ir
