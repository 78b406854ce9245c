// Which thread of a block treats which element.
#pragma once

#include "passes/run/memory.h"

namespace mscclc::passes::proof {

/// Threads share a data operation out by element, one after the other, and run operations in the block's order: so two
/// accesses of one element by one thread need no sync between them.
class Elements {
public:
  Elements(const ProgramIndex &index, const Geometry &geometry, const Memory &memory)
      : index_(index), geometry_(geometry), memory_(memory) {}

  /// An operand of an operation of a block.
  struct Operand {
    std::uint32_t op = none, ref = 0; ///< indexes into the block's `ops` and `chunks`
  };

  /// True if one thread makes both accesses of a cell, of operands of block `b`, and in that order: of two operations,
  /// it does not hold between multicast addresses and a memory's own. `now`'s operation is in progress, in `slice` of
  /// the pipeline of `header`; null and `none` outside of pipelines.
  bool sameThread(std::uint32_t b, const Operand &before, const Operand &now, std::uint32_t header,
                  const LoopSlice *slice) const;

private:
  struct Share;
  std::uint32_t loopOf(std::uint32_t b, std::uint32_t op) const;
  Share shareOf(std::uint32_t b, const Operand &operand, std::uint32_t header, const LoopSlice *slice) const;

  const ProgramIndex &index_;
  const Geometry &geometry_;
  const Memory &memory_;
};

} // namespace mscclc::passes::proof
