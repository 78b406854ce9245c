#include "passes/analysis/remote_accesses.h"

#include <algorithm>

namespace mscclc::passes {

namespace {

/// Returns the first range of `seen` that ends after the begin of `range`. The ranges of `seen` are in order.
template <typename Ranges> auto firstMeeting(Ranges &seen, const ir::MemoryRange &range) {
  return std::partition_point(seen.begin(), seen.end(), [&](const auto &one) { return one.end <= range.begin; });
}

} // namespace

bool RemoteAccesses::conflicts(std::uint32_t rank, ir::Access access, const ir::MemoryRange &range,
                               const ThreadShares &shares) const {
  const auto found = seen_.find({rank, range.buffer});
  if (found == seen_.end())
    return false;
  const std::vector<Seen> &seen = found->second;
  const auto met = firstMeeting(seen, range);
  if (met == seen.end() || met->begin >= range.end)
    return false;
  if (met->begin != range.begin || met->end != range.end)
    return true;
  const bool anyWrites = access == ir::Access::Write || met->isWritten;
  return anyWrites && (shares.unit == ir::ElementUnit::Other || shares != met->shares);
}

void RemoteAccesses::add(std::uint32_t rank, ir::Access access, const ir::MemoryRange &range,
                         const ThreadShares &shares) {
  if (range.empty())
    return;
  std::vector<Seen> &seen = seen_[{rank, range.buffer}];
  Seen all{range.begin, range.end, access == ir::Access::Write, shares};
  const auto first = firstMeeting(seen, range);
  auto last = first;
  for (; last != seen.end() && last->begin < range.end; ++last) {
    if (shares != last->shares || last->begin != range.begin || last->end != range.end)
      all.shares.unit = ir::ElementUnit::Other;
    all.begin = std::min(all.begin, last->begin);
    all.end = std::max(all.end, last->end);
    all.isWritten = all.isWritten || last->isWritten;
  }
  if (first == last) {
    seen.insert(first, all);
    return;
  }
  *first = all;
  seen.erase(first + 1, last);
}

} // namespace mscclc::passes
