#include "passes/schedule/sync_sizes.h"

#include "passes/verify/sizes.h"
#include "passes/verify/slicing.h"

#include <algorithm>

namespace mscclc::passes::prune {

std::vector<proof::Geometry> sizesOf(const ProgramIndex &index) {
  std::vector<proof::Geometry> sizes;
  sizes.emplace_back(index, 3);
  if (sizes[0].fault())
    return {};
  if (sizes[0].mostIterations() != 0 && proof::oneIterationDecides(index, sizes[0]))
    sizes[0] = proof::Geometry(index, 1);
  else if (sizes[0].mostIterations() != 0)
    for (const std::uint32_t least : {1, 2})
      sizes.emplace_back(index, least);
  for (const std::uint32_t units : proof::sliceSizes(index).units)
    sizes.push_back(proof::Geometry::ofUnits(index, units));
  return sizes;
}

bool sizesChange(const ir::Program &program) {
  const auto [least, most] = proof::unitsAllowed(program);
  return least < most && std::ranges::any_of(program.ranks, [](const ir::Rank &r) { return r.scratchChunks != 0; });
}

} // namespace mscclc::passes::prune
