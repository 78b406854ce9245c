// Editing the operations of a thread block in place.
#pragma once

#include "ir/program.h"

#include <span>
#include <vector>

namespace mscclc::passes {

inline constexpr std::uint32_t noPipeline = ~std::uint32_t{0};

/// A nop to be put before operation `before` (or after the last, if that is the number of operations).
struct NopInsertion {
  std::uint32_t before = 0;
  std::uint32_t pipeline = noPipeline; ///< the header whose body gets the nop
  ir::LocId loc = ir::noLoc;
};

/// Inserts nops, given in the order of `before`; several at one place stay in their order. Bodies grow as told.
void insertNops(ir::ThreadBlock &block, std::span<const NopInsertion> nops);

/// Removes the operations at these ascending indexes, none of them a pipeline header. Bodies shrink.
void removeOps(ir::ThreadBlock &block, std::span<const std::uint32_t> indexes);

/// The header of the pipeline in whose body operation `index` is, or noPipeline.
std::uint32_t pipelineAround(const ir::ThreadBlock &block, std::uint32_t index);

/// The operation after operation `index` and its body.
inline std::uint32_t nextOp(const ir::ThreadBlock &block, std::uint32_t index) {
  return index + 1 + block.ops[index].bodySize;
}

} // namespace mscclc::passes
