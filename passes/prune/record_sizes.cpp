#include "passes/prune/record_sizes.h"

#include "passes/run/memory.h"
#include "passes/verify/sizes.h"
#include "passes/verify/slicing.h"

namespace mscclc::passes::prune {

namespace {

/// Returns the sizes for which a program is proven; nothing if it cannot be proven.
std::vector<proof::Geometry> sizesOf(const ProgramIndex &index) {
  const proof::LoopRates rates(index);
  if (rates.fault())
    return {};
  std::vector<proof::Geometry> sizes = proof::iterationSizes(index, rates).all;
  for (const proof::SliceSize &size : proof::sliceSizes(index).sizes)
    sizes.push_back(proof::Geometry::ofUnits(rates, size.units));
  return sizes;
}

} // namespace

std::vector<RunRecord> recordSizes(const ProgramIndex &index, const SyncPoints &points, SyncClasses &classes,
                                   std::uint64_t mostTouched, bool ofFirstRank) {
  if (!proof::Memory::chunksFit(index.program))
    return {};
  std::vector<RunRecord> records;
  const bool change = proof::chunksMove(index.program);
  for (const proof::Geometry &size : sizesOf(index)) {
    if (size.fault() || size.unitsTouched(index) > mostTouched)
      return {};
    std::optional<RunRecord> record = recordRun(index, size, points, classes, change && records.empty(), ofFirstRank);
    if (!record)
      return {};
    records.push_back(std::move(*record));
  }
  return records;
}

} // namespace mscclc::passes::prune
