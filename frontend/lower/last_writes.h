// The last write to each part of memory.
#pragma once

#include "ir/memory_map.h"
#include "ir/source_map.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace mscclc::frontend {

/// The writes of a program in the order of its source, numbered from 1. The time to add or find a write does not depend
/// on the size of the memory range.
class LastWrites {
public:
  /// Returns the number of the last write; 0 if there is none.
  std::uint32_t now() const { return static_cast<std::uint32_t>(places_.size()); }
  /// Adds a write to `range` of `rank` at the location `at`.
  void note(std::uint32_t rank, const ir::MemoryRange &range, ir::LocId at);
  /// Returns the number of the last write to any part of `range`; 0 if there is none.
  std::uint32_t last(std::uint32_t rank, const ir::MemoryRange &range) const;
  /// Returns the location of the write with the number `write`, which must not be 0.
  ir::LocId placeOf(std::uint32_t write) const { return places_[write - 1]; }
  /// Returns the memory of this object, in bytes.
  std::uint64_t bytes() const { return nodes_.size() * sizeof(Node) + places_.size() * sizeof(ir::LocId); }

private:
  /// A node of a binary tree over the memory of a buffer. It covers half of its parent's range.
  struct Node {
    std::uint32_t low = 0, high = 0; ///< nodes of its halves; both 0 if no write to a part followed `whole`
    std::uint32_t whole = 0;         ///< number of the last write to the whole range
    std::uint32_t any = 0;           ///< number of the last write to any part of the range
  };
  /// The range of a node, in plain chunks.
  struct Span {
    std::uint64_t begin, end;
  };
  /// The range of a root. A buffer has fewer than 2^32 chunks, and packets take twice the memory.
  static constexpr Span all{0, std::uint64_t{1} << 34};

  std::uint32_t mark(std::uint32_t node, Span span, const ir::MemoryRange &range);
  std::uint32_t find(std::uint32_t node, Span span, const ir::MemoryRange &range) const;

  std::vector<ir::LocId> places_;
  std::vector<Node> nodes_{Node{}}; ///< node 0 stands for no node
  std::map<std::pair<std::uint32_t, ir::BufferKind>, std::uint32_t>
      roots_; ///< root of the tree for each rank and buffer
};

} // namespace mscclc::frontend
