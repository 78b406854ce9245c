// The reduction trees of outputs, step by step, in a form that can be computed.
#pragma once

#include "ir/program.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace mscclc::passes {

namespace proof {
class FinalBuffers;
}

/// A reduction tree. The operands of steps are numbered: first the inputs, then the steps in their order.
struct SumSteps {
  struct Step {
    std::uint32_t a = 0, b = 0;
    bool narrows = false; ///< true: the result is rounded to the type of elements; false: to f32 or wider
    bool encodes = false; ///< no sum: the result is `a` in the wire format, and `b` is the same as `a`
    friend auto operator<=>(const Step &, const Step &) = default;
  };
  ir::ReduceOp op = ir::ReduceOp::Sum;
  std::vector<ir::Contribution> inputs;
  std::vector<Step> steps; ///< at least one; the last step gives the result
  bool isZeroed = false;   ///< true: the result is +0.0 where the last step gives -0.0
  friend auto operator<=>(const SumSteps &, const SumSteps &) = default;
};

/// The trees of output chunks. A chunk has a tree if all of its elements have the same tree.
struct OutputSums {
  std::vector<SumSteps> trees;
  std::vector<std::vector<std::uint32_t>> of; ///< [rank][chunk]: index into `trees`, or ir::none
};

/// Returns the trees of the outputs of a launch. Sums by a switch, minima and maxima have no trees.
OutputSums outputSums(const proof::FinalBuffers &end);

/// Removes the tree of a chunk from `sums` unless `other` has the same tree for this chunk. `sums` and `other` are for
/// two message sizes of one program.
void keepCommon(OutputSums &sums, const OutputSums &other);

} // namespace mscclc::passes
