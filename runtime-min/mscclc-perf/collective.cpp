#include "collective.h"

#include <algorithm>

namespace mscclc::perf {

/// All elements of a share have the same source rank, and so have all elements of a buffer without shares.
std::vector<Segment> segmentsOf(const collectives::Row &collective, const Question &q) {
  std::vector<Segment> segments;
  const uint64_t share = std::max<uint64_t>(collective.share(q.ranks, q.count), 1);
  const uint64_t all = collective.output(q.ranks, q.count);
  for (uint64_t begin = 0; begin < all; begin += share) {
    const collectives::Source from = collective.source(q.ranks, q.root, share, q.rank, begin);
    const uint64_t count = std::min(share, all - begin);
    if (from.rank == collectives::nobody)
      continue;
    if (!segments.empty() && segments.back().from == from.rank &&
        segments.back().first + segments.back().count == from.element)
      segments.back().count += count;
    else
      segments.push_back({begin, count, from.element, from.rank});
  }
  return segments;
}

} // namespace mscclc::perf
