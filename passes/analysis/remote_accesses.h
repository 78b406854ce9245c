// Records the accesses of a block to the memory of other ranks, and finds their conflicts with a new access.
#pragma once

#include "ir/memory_map.h"
#include "passes/op_list.h"

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace mscclc::passes {

/// The distribution of an access to the threads of a block. If two accesses of one range have equal ThreadShares, each
/// thread accesses the same elements in both, in the order of the operations. passes/run/elements.h relies on the same
/// fact.
struct ThreadShares {
  bool bySwitch = false;
  ir::ElementUnit unit = ir::ElementUnit::Other; ///< Other: the unit is unknown
  std::uint32_t groupIndex = 0, groupSize = 0;
  std::uint32_t loop = noPipeline; ///< header of the surrounding pipeline
  friend bool operator==(const ThreadShares &, const ThreadShares &) = default;
};

/// The recorded accesses. Only plain data counts, because packets have their own order.
class RemoteAccesses {
public:
  /// True if the block's threads must synchronise before this access. They must if a recorded range overlaps `range`
  /// but is not equal to it. For equal ranges they must if one access writes and a thread may access other elements in
  /// it.
  bool conflicts(std::uint32_t rank, ir::Access access, const ir::MemoryRange &range, const ThreadShares &shares) const;
  /// Records an access that conflicts with nothing, or only with its own operation.
  void add(std::uint32_t rank, ir::Access access, const ir::MemoryRange &range, const ThreadShares &shares);
  void clear() { seen_.clear(); }

private:
  struct Seen {
    std::uint64_t begin = 0, end = 0;
    bool isWritten = false;
    ThreadShares shares;
  };

  /// The disjoint ranges of each buffer of each rank, in order.
  std::map<std::pair<std::uint32_t, ir::BufferKind>, std::vector<Seen>> seen_;
};

} // namespace mscclc::passes
