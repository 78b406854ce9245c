#include "backend-cuda/block_shape.h"

namespace mscclc::cuda {

namespace {
/// A 64-bit mix of a running hash and a number; collisions of whole programs are out of the question at this width.
constexpr std::uint64_t mix(std::uint64_t hash, std::uint64_t v) {
  hash ^= v + 0x9e3779b97f4a7c15u + (hash << 6) + (hash >> 2);
  hash *= 0xff51afd7ed558ccdu;
  return hash ^ hash >> 33;
}
} // namespace

std::uint64_t shapeHash(const ir::Rank &rank, const ir::ThreadBlock &block, const ir::Op &op) {
  std::uint64_t h = mix(static_cast<std::uint64_t>(op.kind) << 24 | static_cast<std::uint64_t>(op.channelType) << 16 |
                            static_cast<std::uint64_t>(op.reduceOp) << 8 | static_cast<std::uint64_t>(op.sync),
                        std::uint64_t{op.numSrcs} << 32 | op.numDsts);
  h = mix(h, std::uint64_t{op.numIds} << 32 | op.groupSize);
  h = mix(h, std::uint64_t{op.count} << 32 | op.bodySize);
  if (op.kind == ir::OpKind::Pipeline)
    h = mix(h, op.imm);
  for (const ir::Chunk &chunk : block.operands(op)) {
    const std::uint64_t members =
        chunk.space == ir::ChunkSpace::Switch ? rank.switchChannels[chunk.id].ranks.size() : std::uint64_t{0};
    h = mix(h, std::uint64_t{chunk.size} << 8 | static_cast<std::uint64_t>(chunk.space) << 4 |
                   static_cast<std::uint64_t>(bufferOf(rank, chunk)));
    h = mix(h, members);
  }
  return h;
}

std::uint64_t shapeHash(const ir::Rank &rank, const ir::ThreadBlock &block) {
  std::uint64_t h = block.ops.size();
  for (const ir::Op &op : block.ops)
    h = mix(h, shapeHash(rank, block, op));
  return h;
}

} // namespace mscclc::cuda
