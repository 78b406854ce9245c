// Edits the operations of a thread block in place.
#pragma once

#include "ir/program.h"

#include <span>
#include <vector>

namespace mscclc::passes {

inline constexpr std::uint32_t noPipeline = ~std::uint32_t{0};

/// A nop to insert before operation `before`, or after the last one if `before` is the number of operations.
struct NopInsertion {
  std::uint32_t before = 0;
  std::uint32_t pipeline = noPipeline; ///< the header of the pipeline whose body gets the nop
  ir::LocId loc = ir::noLoc;
};

/// Inserts nops, which must be sorted by `before`. Nops at the same place keep their order. A pipeline's body grows by
/// the nops in it.
void insertNops(ir::ThreadBlock &block, std::span<const NopInsertion> nops);

/// Removes the operations at the ascending `indexes`. None of them may be a pipeline header. Bodies of pipelines
/// shrink.
void removeOps(ir::ThreadBlock &block, std::span<const std::uint32_t> indexes);

/// Returns the header of the pipeline whose body contains operation `index`, or noPipeline.
std::uint32_t pipelineAround(const ir::ThreadBlock &block, std::uint32_t index);

/// Returns the index of the next operation after operation `index` and its body.
inline std::uint32_t nextOp(const ir::ThreadBlock &block, std::uint32_t index) {
  return index + 1 + block.ops[index].bodySize;
}

} // namespace mscclc::passes
