#include "ir/shape_classes.h"

#include "ir/op_memory.h"

namespace mscclc::ir {
namespace {

std::uint64_t pair(std::uint32_t high, std::uint32_t low) {
  return std::uint64_t{high} << 32 | low;
}

/// Appends the shape of `op` without its chunks.
void append(Shape &shape, const Op &op) {
  shape.push_back(static_cast<std::uint64_t>(op.kind) << 24 | static_cast<std::uint64_t>(op.channelType) << 16 |
                  static_cast<std::uint64_t>(op.reduceOp) << 8 | static_cast<std::uint64_t>(op.sync));
  shape.push_back(pair(op.numSrcs, op.numDsts));
  shape.push_back(pair(op.numIds, op.groupSize));
  shape.push_back(pair(op.count, op.bodySize));
  if (op.kind == OpKind::Pipeline || op.kind == OpKind::Apply)
    shape.push_back(op.imm);
}

void append(Shape &shape, const Rank &rank, const ThreadBlock &block, const Op &op) {
  append(shape, op);
  for (const Chunk &chunk : block.operands(op)) {
    shape.push_back(std::uint64_t{chunk.size} << 8 | static_cast<std::uint64_t>(chunk.space) << 4 |
                    static_cast<std::uint64_t>(bufferOf(rank, chunk)));
    if (chunk.space == ChunkSpace::Switch)
      shape.push_back(rank.switchChannels[chunk.id].ranks.size());
  }
}

} // namespace

Shape shapeOf(const Rank &rank, const ThreadBlock &block, const Op &op) {
  Shape shape;
  append(shape, rank, block, op);
  return shape;
}

Shape shapeOf(const Rank &rank, const ThreadBlock &block) {
  Shape shape{block.ops.size()};
  for (const Op &op : block.ops)
    append(shape, rank, block, op);
  return shape;
}

Shape operationsOf(const Rank &rank) {
  Shape shape{rank.blocks.size()};
  for (const ThreadBlock &block : rank.blocks) {
    shape.push_back(block.ops.size());
    for (const Op &op : block.ops)
      append(shape, op);
  }
  return shape;
}

} // namespace mscclc::ir
