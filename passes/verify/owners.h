// Whose memory a chunk operand names.
#pragma once

#include "ir/program.h"

namespace mscclc::passes::proof {

/// Calls `visit(owner, buffer)` for each place that a chunk operand of a block of `rank` names: one, or one on every
/// rank of a switch channel's group.
template <typename Visit>
void forOwners(const ir::Program &program, std::uint32_t rank, const ir::Chunk &chunk, Visit &&visit) {
  const ir::Rank &r = program.ranks[rank];
  if (ir::isLocal(chunk.space)) {
    visit(rank, static_cast<ir::BufferKind>(chunk.space));
  } else if (chunk.space == ir::ChunkSpace::Remote) {
    visit(r.remoteBuffers[chunk.id].rank, r.remoteBuffers[chunk.id].buffer);
  } else {
    for (const std::uint32_t member : r.switchChannels[chunk.id].ranks)
      visit(member, r.switchChannels[chunk.id].buffer);
  }
}

} // namespace mscclc::passes::proof
