// Records the reads and writes of a block, and finds their conflicts with a new access.
#pragma once

#include "ir/memory_map.h"
#include "passes/analysis/interval_set.h"

#include <array>

namespace mscclc::passes {

/// The places that a block has read and written.
class AccessRecord {
public:
  /// True if an access overlaps a recorded write, or is a write that overlaps a recorded read.
  bool conflicts(ir::Access access, const ir::MemoryRange &range) const {
    const auto buffer = static_cast<std::size_t>(range.buffer);
    return written_[buffer].meets(range.begin, range.end) ||
           (access == ir::Access::Write && read_[buffer].meets(range.begin, range.end));
  }

  /// Records an access, and keeps the earlier ones.
  void add(ir::Access access, const ir::MemoryRange &range) {
    (access == ir::Access::Write ? written_ : read_)[static_cast<std::size_t>(range.buffer)].insert(range.begin,
                                                                                                    range.end);
  }

  /// Records an access that conflicts with nothing, or only with its own operation. For each place the latest access
  /// counts. If a pipeline writes a place and reads it afterwards, it has synchronised in between.
  void addLatest(ir::Access access, const ir::MemoryRange &range) {
    if (access == ir::Access::Read)
      written_[static_cast<std::size_t>(range.buffer)].erase(range.begin, range.end);
    add(access, range);
  }

  void clear() {
    read_ = {};
    written_ = {};
  }

private:
  std::array<IntervalSet, 3> read_, written_; // by buffer kind
};

} // namespace mscclc::passes
