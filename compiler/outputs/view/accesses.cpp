#include "compiler/outputs/view/accesses.h"

#include "ir/memory_map.h"
#include "ir/op_semantics.h"
#include "ir/op_shapes.h"

namespace mscclc::driver {
namespace {

ShownChunks shown(const ir::Program &program, std::uint32_t rank, ir::BufferKind buffer, ir::DataForm form,
                  const ir::Chunk &chunk) {
  if (form == ir::DataForm::Packet && buffer == ir::BufferKind::Scratch)
    return {rank, ShownBuffer::Packets, chunk.index, chunk.size};
  const ir::CanonicalPlace place = ir::canonicalPlace(program, rank, buffer, chunk.index);
  return {rank, static_cast<ShownBuffer>(place.buffer), place.index, chunk.size};
}

} // namespace

ShownAccesses accessesOf(const ir::Program &program, std::uint32_t rank, const ir::ThreadBlock &block,
                         const ir::Op &op) {
  ShownAccesses accesses;
  accesses.pairwise = ir::shapeOf(op.kind).pairwise;
  const ir::Rank &self = program.ranks[rank];
  for (std::uint32_t i = 0; i < op.numChunks(); ++i) {
    const ir::Chunk &chunk = block.operands(op)[i];
    const auto [access, form] = ir::roleOf(op, i);
    std::vector<ShownChunks> &list = access == ir::Access::Read ? accesses.reads : accesses.writes;
    switch (chunk.space) {
    case ir::ChunkSpace::Input:
    case ir::ChunkSpace::Output:
    case ir::ChunkSpace::Scratch:
      list.push_back(shown(program, rank, static_cast<ir::BufferKind>(chunk.space), form, chunk));
      break;
    case ir::ChunkSpace::Remote: {
      const ir::RemoteBuffer &remote = self.remoteBuffers[chunk.id];
      list.push_back(shown(program, remote.rank, remote.buffer, form, chunk));
      break;
    }
    case ir::ChunkSpace::Switch: {
      const ir::SwitchChannel &channel = self.switchChannels[chunk.id];
      for (const std::uint32_t member : channel.ranks)
        list.push_back(shown(program, member, channel.buffer, form, chunk));
      break;
    }
    }
  }
  return accesses;
}

ShownChunks inputOf(const ir::Program &program, std::uint32_t rank) {
  const ir::CanonicalPlace place = ir::canonicalPlace(program, rank, ir::BufferKind::Input, 0);
  return {rank, static_cast<ShownBuffer>(place.buffer), place.index, program.ranks[rank].inputChunks};
}

} // namespace mscclc::driver
