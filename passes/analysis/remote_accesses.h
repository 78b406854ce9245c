// What a block has done in the memory of other ranks since some point, and what would have to wait for that.
#pragma once

#include "ir/memory_map.h"
#include "passes/op_list.h"

#include <map>
#include <tuple>

namespace mscclc::passes {

/// How the threads of a block share an access out. Where two accesses of one range have all of it in common, each
/// thread makes both of the same elements, in the order of the operations; so passes/verify/elements.h takes it, too.
struct ThreadShares {
  bool bySwitch = false;
  ir::ElementUnit unit = ir::ElementUnit::Other; ///< Other: nobody knows
  std::uint32_t groupIndex = 0, groupSize = 0;
  std::uint32_t loop = noPipeline; ///< header of the pipeline that it is in
  friend bool operator==(const ThreadShares &, const ThreadShares &) = default;
};

/// Plain data alone: packets keep their own order.
class RemoteAccesses {
public:
  /// True if the block's threads have to meet before this access: it meets one that is recorded, one of the two
  /// writes, and not each thread makes both of the same elements; or their ranges overlap and are not equal.
  bool conflicts(std::uint32_t rank, ir::Access access, const ir::MemoryRange &range, const ThreadShares &shares) const;
  /// Records an access that conflicts with none, or with its own operation only.
  void add(std::uint32_t rank, ir::Access access, const ir::MemoryRange &range, const ThreadShares &shares);
  void clear() { seen_.clear(); }

private:
  using Key = std::tuple<std::uint32_t, ir::BufferKind, std::uint64_t>; // rank, buffer, first chunk
  struct Seen {
    std::uint64_t end = 0;
    bool isWritten = false;
    ThreadShares shares;
  };
  using Map = std::map<Key, Seen>; // of ranges that do not overlap
  /// The first recorded range that meets `range`; end() if there is none.
  Map::const_iterator firstMeeting(std::uint32_t rank, const ir::MemoryRange &range) const;

  Map seen_;
};

} // namespace mscclc::passes
