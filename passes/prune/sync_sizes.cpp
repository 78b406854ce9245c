#include "passes/prune/sync_sizes.h"

#include "passes/verify/memory.h"
#include "passes/verify/sizes.h"
#include "passes/verify/slicing.h"

#include <algorithm>

namespace mscclc::passes::prune {

namespace {

/// The sizes in which a program is proven; nothing if it cannot be.
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

/// True if launches of other sizes may find other chunks at a place of scratch.
bool sizesChange(const ir::Program &program) {
  const auto [least, most] = proof::unitsAllowed(program);
  return least < most && std::ranges::any_of(program.ranks, [](const ir::Rank &r) { return r.scratchChunks != 0; });
}

} // namespace

std::vector<SyncRecord> recordSizes(const ProgramIndex &index, const SyncPieces &pieces, SyncOrbits &orbits,
                                    std::uint64_t mostTouched, bool ofFirstRank) {
  if (!proof::Memory::chunksFit(index.program))
    return {};
  std::vector<SyncRecord> records;
  const bool change = sizesChange(index.program);
  for (const proof::Geometry &size : sizesOf(index)) {
    if (size.fault() || size.unitsTouched(index) > mostTouched)
      return {};
    std::optional<SyncRecord> record = recordSync(index, size, pieces, orbits, change && records.empty(), ofFirstRank);
    if (!record)
      return {};
    records.push_back(std::move(*record));
  }
  return records;
}

} // namespace mscclc::passes::prune
