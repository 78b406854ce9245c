#include "passes/prune/drop_sync.h"

#include "ir/op_semantics.h"
#include "passes/op_list.h"

#include <algorithm>

namespace mscclc::passes::prune {

ir::Program dropSync(const ProgramIndex &index, const SyncPoints &points, const std::vector<bool> &dropped) {
  ir::Program less = index.program;
  std::vector<std::vector<std::uint32_t>> gone(index.numBlocks()); // [block]: the operations to remove
  for (SyncPoint p = 0; p < points.count();) {
    const SyncPoints::Location &place = points.place(p);
    const std::uint32_t rank = index.rankOf(place.block);
    ir::ThreadBlock &block = less.ranks[rank].blocks[index.idOf(place.block)];
    ir::Op &op = block.ops[place.op];
    std::uint32_t left = 0, i = 0;
    for (; p + i < points.count() && points.place(p + i).block == place.block && points.place(p + i).op == place.op;
         ++i)
      if (!dropped[p + i] && i < op.numIds)
        block.ids[op.firstId + left++] = block.ids[op.firstId + i];
    const bool whole = std::all_of(dropped.begin() + p, dropped.begin() + p + i, [](bool d) { return d; });
    if (whole)
      gone[place.block].push_back(place.op);
    else if (ir::sends(op.kind) || ir::takes(op.kind))
      op.numIds = left;
    p += i;
  }
  for (std::uint32_t b = 0; b < gone.size(); ++b)
    if (!gone[b].empty())
      removeOps(less.ranks[index.rankOf(b)].blocks[index.idOf(b)], gone[b]);
  return less;
}

} // namespace mscclc::passes::prune
