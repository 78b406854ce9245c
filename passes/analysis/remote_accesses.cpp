#include "passes/analysis/remote_accesses.h"

#include <algorithm>
#include <iterator>

namespace mscclc::passes {

RemoteAccesses::Map::const_iterator RemoteAccesses::firstMeeting(std::uint32_t rank,
                                                                 const ir::MemoryRange &range) const {
  const auto isThere = [&](Map::const_iterator at) {
    return std::get<0>(at->first) == rank && std::get<1>(at->first) == range.buffer;
  };
  auto at = seen_.lower_bound({rank, range.buffer, range.begin});
  if (at != seen_.begin())
    if (const auto before = std::prev(at); isThere(before) && before->second.end > range.begin)
      return before;
  return at != seen_.end() && isThere(at) && std::get<2>(at->first) < range.end ? at : seen_.end();
}

bool RemoteAccesses::conflicts(std::uint32_t rank, ir::Access access, const ir::MemoryRange &range,
                               const ThreadShares &shares) const {
  const auto met = firstMeeting(rank, range);
  if (met == seen_.end())
    return false;
  const auto &[key, seen] = *met;
  if (std::get<2>(key) != range.begin || seen.end != range.end)
    return true;
  const bool anyWrites = access == ir::Access::Write || seen.isWritten;
  return anyWrites && (shares.unit == ir::ElementUnit::Other || shares != seen.shares);
}

void RemoteAccesses::add(std::uint32_t rank, ir::Access access, const ir::MemoryRange &range,
                         const ThreadShares &shares) {
  if (range.empty())
    return;
  Seen all{range.end, access == ir::Access::Write, shares};
  std::uint64_t begin = range.begin;
  for (auto met = firstMeeting(rank, range); met != seen_.end(); met = firstMeeting(rank, range)) {
    const auto &[key, seen] = *met;
    if (shares != seen.shares || std::get<2>(key) != range.begin || seen.end != range.end)
      all.shares.unit = ir::ElementUnit::Other;
    begin = std::min(begin, std::get<2>(key));
    all.end = std::max(all.end, seen.end);
    all.isWritten = all.isWritten || seen.isWritten;
    seen_.erase(met);
  }
  seen_.insert_or_assign(Key{rank, range.buffer, begin}, all);
}

} // namespace mscclc::passes
