// Determines which thread of a block accesses which element.
#pragma once

#include "passes/run/memory.h"

namespace mscclc::passes::proof {

/// The threads of a block take the elements of a data operation in turn. Each thread does its operations in the block's
/// order. So two accesses of an element by the same thread need no sync between them. Example with 2 threads: a copy of
/// 4 words gives words 0 and 2 to thread 0. A second copy from there, of the same length, also gives words 0 and 2 to
/// thread 0, so it needs no sync. If it begins at word 1, thread 0 would read word 1, which thread 1 has written.
class Elements {
public:
  Elements(const ProgramIndex &index, const Geometry &geometry, const Memory &memory)
      : index_(index), geometry_(geometry), memory_(memory) {}

  /// An operand of an operation of a block.
  struct Operand {
    std::uint32_t op = none, ref = 0; ///< indices into the block's `ops` and `chunks`
  };

  /// True if one thread makes both accesses of a cell: first by operand `before`, then by operand `now`, both of block
  /// `b`. Returns false for two operations if only one of them uses a multicast address. `now` belongs to the current
  /// operation, in `slice` of the pipeline of `header`. Outside of pipelines, `slice` is null and `header` is `none`.
  bool sameThread(std::uint32_t b, const Operand &before, const Operand &now, std::uint32_t header,
                  const LoopSlice *slice) const;

  /// True if element i of `before` and element i of `now` are accessed by the same thread, for every i. The operands
  /// are of different operations, and outside of pipelines.
  bool sameShares(std::uint32_t b, const Operand &before, const Operand &now) const;

private:
  struct Share;
  bool byWords(std::uint32_t b, const Operand &before, const Operand &now) const;
  std::uint32_t loopOf(std::uint32_t b, std::uint32_t op) const;
  Share shareOf(std::uint32_t b, const Operand &operand, std::uint32_t header, const LoopSlice *slice) const;

  const ProgramIndex &index_;
  const Geometry &geometry_;
  const Memory &memory_;
};

} // namespace mscclc::passes::proof
