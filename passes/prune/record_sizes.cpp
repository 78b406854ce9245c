#include "passes/prune/record_sizes.h"

#include "passes/run/memory.h"
#include "passes/verify/sizes.h"
#include "passes/verify/slicing.h"

#include <algorithm>

namespace mscclc::passes::prune {

namespace {

/// Returns the sizes in which a program is proven; nothing if it cannot be proven.
std::vector<proof::Geometry> sizesOf(const ProgramIndex &index) {
  std::vector<proof::Geometry> sizes;
  const proof::LoopRates rates(index);
  if (rates.fault())
    return {};
  if (rates.empty() || proof::oneIterationDecides(index, rates))
    sizes.emplace_back(rates);
  else
    for (const std::uint64_t length : proof::iterationLengths(index, rates, proof::pairLoops(index)))
      sizes.emplace(sizes.begin(), index, rates, length);
  for (const proof::SliceSize &size : proof::sliceSizes(index).sizes)
    sizes.push_back(proof::Geometry::ofUnits(rates, size.units));
  return sizes;
}

/// True if launches of different sizes may have different chunks at the same place of scratch.
bool sizesChange(const ir::Program &program) {
  const auto [least, most] = proof::unitsAllowed(program);
  return least < most && std::ranges::any_of(program.ranks, [](const ir::Rank &r) { return r.scratchChunks != 0; });
}

} // namespace

std::vector<RunRecord> recordSizes(const ProgramIndex &index, const SyncPieces &pieces, SyncOrbits &orbits,
                                   std::uint64_t mostTouched, bool ofFirstRank) {
  if (!proof::Memory::chunksFit(index.program))
    return {};
  std::vector<RunRecord> records;
  const bool change = sizesChange(index.program);
  for (const proof::Geometry &size : sizesOf(index)) {
    if (size.fault() || size.unitsTouched(index) > mostTouched)
      return {};
    std::optional<RunRecord> record = recordRun(index, size, pieces, orbits, change && records.empty(), ofFirstRank);
    if (!record)
      return {};
    records.push_back(std::move(*record));
  }
  return records;
}

} // namespace mscclc::passes::prune
