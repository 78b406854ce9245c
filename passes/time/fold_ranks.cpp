#include "passes/time/fold_ranks.h"

#include "passes/analysis/block_symmetry.h"

namespace mscclc::passes::time {

std::optional<OtherEnds> foldRanks(const ir::ProgramIndex &index, const Machine &machine) {
  if (machine.isUneven())
    return std::nullopt;
  const RankNodes nodes(index.program, machine);
  const BlockSymmetry symmetry(index,
                               [&](std::uint32_t rank, std::uint32_t other) { return nodes.areTogether(other, rank); });
  return symmetry.holds() ? std::optional(symmetry.otherEnds()) : std::nullopt;
}

} // namespace mscclc::passes::time
