// What a block has done in the memory of other ranks since some point, and what would have to wait for that.
#pragma once

#include "ir/memory_map.h"
#include "passes/op_list.h"

#include <cstdint>
#include <span>
#include <vector>

namespace mscclc::passes {

/// How the threads of a block share an access out. Where two accesses of one range have all of it in common, each
/// thread makes both of the same elements, in the order of the operations; so passes/run/elements.h takes it, too.
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
  void clear() { ++generation_; }

private:
  struct Seen {
    std::uint64_t begin = 0, end = 0;
    bool isWritten = false;
    ThreadShares shares;
  };
  /// Ranges of one buffer of one rank, which do not overlap, in order.
  struct Place {
    std::uint64_t generation = 0; ///< of older ones, nothing counts
    std::vector<Seen> seen;
  };
  static std::size_t placeOf(std::uint32_t rank, ir::BufferKind buffer) {
    return std::size_t{rank} * 3 + static_cast<std::size_t>(buffer);
  }

  std::vector<Place> places_; ///< by rank and buffer, as far as some were seen
  std::uint64_t generation_ = 1;
};

} // namespace mscclc::passes
