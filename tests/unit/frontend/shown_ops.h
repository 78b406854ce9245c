// Operations as one line each, for comparing with what a test expects.
#pragma once

#include "ir/program.h"

#include <string>
#include <vector>

namespace mscclc::frontend {

inline std::string show(const ir::Chunk &chunk) {
  std::string name = chunk.space == ir::ChunkSpace::Input    ? "i"
                     : chunk.space == ir::ChunkSpace::Output ? "o"
                     : chunk.space == ir::ChunkSpace::Scratch
                         ? "s"
                         : (chunk.space == ir::ChunkSpace::Remote ? "remote" : "switch") + std::to_string(chunk.id);
  return name + "[" + std::to_string(chunk.index) + ":" + std::to_string(chunk.index + chunk.size) + "]";
}

/// "put memory remote0[1:2] <- i[0:1] {ids} before 0/4"; unset parts are left out.
inline std::string show(const ir::ThreadBlock &block, const ir::Op &op) {
  std::string line(toString(op.kind));
  if (op.channelType != ir::ChannelType::None)
    line += " " + std::string(toString(op.channelType));
  for (const ir::Chunk &dst : block.dsts(op))
    line += " " + show(dst);
  for (const ir::Chunk &src : block.srcs(op))
    line += (&src == block.srcs(op).data() ? " <- " : ", ") + show(src);
  for (const std::uint32_t id : block.idsOf(op))
    line += " {" + std::to_string(id) + "}";
  if (op.reduceOp != ir::ReduceOp::Sum)
    line += " " + std::string(toString(op.reduceOp));
  if (op.kind == ir::OpKind::Pipeline)
    line += " " + std::to_string(op.imm) + " x " + std::to_string(op.count) + " body " + std::to_string(op.bodySize);
  if (op.kind == ir::OpKind::Barrier)
    line += " " + std::to_string(op.imm) + " of " + std::to_string(op.count);
  constexpr const char *syncs[] = {"", " before", " after", " both"};
  line += syncs[static_cast<std::size_t>(op.sync)];
  if (op.groupSize != 0)
    line += " " + std::to_string(op.groupIndex) + "/" + std::to_string(op.groupSize);
  return line;
}

/// All operations of a block.
inline std::vector<std::string> show(const ir::Program &program, std::size_t rank, std::size_t block) {
  std::vector<std::string> lines;
  const ir::ThreadBlock &threadBlock = program.ranks.at(rank).blocks.at(block);
  for (const ir::Op &op : threadBlock.ops)
    lines.push_back(show(threadBlock, op));
  return lines;
}

} // namespace mscclc::frontend
