#include "passes/op_list.h"

#include "ir/cursor.h"

#include <utility>

namespace mscclc::passes {

void insertNops(ir::ThreadBlock &block, std::span<const NopInsertion> nops) {
  if (nops.empty())
    return;
  for (const NopInsertion &nop : nops)
    if (nop.pipeline != noPipeline)
      ++block.ops[nop.pipeline].bodySize;
  std::size_t from = block.ops.size(), to = from + nops.size();
  block.ops.reserve(to); // reserves the exact size, because a block's list lives as long as the program
  block.ops.resize(to);
  for (std::size_t i = nops.size(); i-- > 0;) {
    while (from > nops[i].before)
      block.ops[--to] = block.ops[--from];
    ir::Op nop;
    nop.loc = nops[i].loc;
    block.ops[--to] = nop;
  }
}

void removeOps(ir::ThreadBlock &block, std::span<const std::uint32_t> indexes) {
  if (indexes.empty())
    return;
  std::size_t next = 0;
  std::vector<ir::Op> kept;
  kept.reserve(block.ops.size() - indexes.size());
  ir::rewriteOps(block, kept, [&](std::uint32_t o) {
    if (next < indexes.size() && indexes[next] == o)
      ++next;
    else
      kept.push_back(block.ops[o]);
  });
  block.ops = std::move(kept);
}

std::uint32_t pipelineAround(const ir::ThreadBlock &block, std::uint32_t index) {
  for (std::uint32_t header = index; header-- != 0;)
    if (block.ops[header].kind == ir::OpKind::Pipeline)
      return index <= header + block.ops[header].bodySize ? header : noPipeline;
  return noPipeline;
}

} // namespace mscclc::passes
