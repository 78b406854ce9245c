#include "backend-cuda/fused_hooks.h"

#include "ir/collectives.h"
#include "ir/op_semantics.h"

namespace mscclc::cuda {

namespace {

using ir::Op;
using ir::OpKind;

/// True if the operation's function in the device headers stores to its first destination element by element. A get
/// does not, because its operands are pairs.
bool storesElements(const Op &op) {
  return ir::elementUnitOf(op) != ir::ElementUnit::Other && op.kind != OpKind::Get && op.numDsts != 0 &&
         ir::formOfDestination(op.kind, 0) == ir::DataForm::Plain;
}

/// True if the operation may make whole rows or blocks one after another. It must not send packets as well: others
/// would wait for the hook's function. And it must not be part of a thread-block group: the group would divide its
/// chunks at other places.
bool makesParts(const Op &op) {
  return ir::awaitsPackets(op.kind) && op.numDsts == 1 && op.groupSize <= 1;
}

} // namespace

bool takesElements(const ir::Program &program, const Op &apply) {
  return program.hooks[apply.imm].granularity == ir::Granularity::Element;
}

std::vector<std::uint32_t> fusedHooks(const ir::Program &program, std::uint32_t rank, std::size_t block) {
  const ir::ThreadBlock &code = program.ranks[rank].blocks[block];
  std::vector<std::uint32_t> distances(code.ops.size());
  if (program.hooks.empty() || ir::wireOf(program) || program.movement.accumulate == ir::Accumulate::Wide ||
      ir::info(program.collective.kind).hasRows)
    return distances;
  std::size_t loopEnd = 0;
  for (std::size_t o = 0; o < code.ops.size(); ++o) {
    const Op &op = code.ops[o];
    if (op.kind == OpKind::Pipeline)
      loopEnd = o + 1 + op.bodySize;
    if (!storesElements(op))
      continue;
    const std::size_t end = o < loopEnd ? loopEnd : code.ops.size();
    std::size_t at = o + 1;
    while (at < end && code.ops[at].kind == OpKind::Nop)
      ++at;
    if (at == end || code.ops[at].kind != OpKind::Apply)
      continue;
    const Op &apply = code.ops[at];
    if ((takesElements(program, apply) || makesParts(op)) && code.dsts(op)[0] == code.dsts(apply)[0] &&
        op.groupSize == apply.groupSize && op.groupIndex == apply.groupIndex)
      distances[o] = static_cast<std::uint32_t>(at - o);
  }
  return distances;
}

} // namespace mscclc::cuda
