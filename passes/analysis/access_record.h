// What a block has read and written since some point, and what would conflict with that.
#pragma once

#include "ir/memory_map.h"
#include "passes/analysis/interval_set.h"

#include <array>

namespace mscclc::passes {

class AccessRecord {
public:
  /// True if an access meets a recorded write, or is a write that meets a recorded read.
  bool conflicts(ir::Access access, const ir::MemoryRange &range) const {
    if (empty_)
      return false;
    const auto buffer = static_cast<std::size_t>(range.buffer);
    return written_[buffer].meets(range.begin, range.end) ||
           (access == ir::Access::Write && read_[buffer].meets(range.begin, range.end));
  }

  /// Records an access; those before it stay.
  void add(ir::Access access, const ir::MemoryRange &range) {
    empty_ = false;
    (access == ir::Access::Write ? written_ : read_)[static_cast<std::size_t>(range.buffer)].insert(range.begin,
                                                                                                    range.end);
  }

  /// Records an access that conflicts with nothing, or with its own operation only: of each place the latest counts.
  /// A pipeline that writes a place and reads it afterwards has synchronised in between.
  void addLatest(ir::Access access, const ir::MemoryRange &range) {
    if (access == ir::Access::Read)
      written_[static_cast<std::size_t>(range.buffer)].erase(range.begin, range.end);
    add(access, range);
  }

  void clear() {
    if (empty_)
      return;
    empty_ = true;
    for (std::size_t buffer = 0; buffer < read_.size(); ++buffer) {
      read_[buffer].clear();
      written_[buffer].clear();
    }
  }

private:
  bool empty_ = true;
  std::array<IntervalSet, 3> read_, written_; // by buffer kind
};

} // namespace mscclc::passes
