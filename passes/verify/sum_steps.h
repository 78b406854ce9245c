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

/// A reduction tree. Operands of steps are numbered: first the inputs, then the steps before.
struct SumSteps {
  struct Step {
    std::uint32_t a = 0, b = 0;
    bool narrows = false; ///< the result is rounded to the type of elements, else to f32 or wider
    bool encodes = false; ///< no sum: `a` as the wire format keeps it. `b` is the same operand
    friend auto operator<=>(const Step &, const Step &) = default;
  };
  ir::ReduceOp op = ir::ReduceOp::Sum;
  std::vector<ir::Contribution> inputs;
  std::vector<Step> steps; ///< one at least; the last one is the result
  bool isZeroed = false;   ///< the result is +0.0 where that is -0.0
  friend auto operator<=>(const SumSteps &, const SumSteps &) = default;
};

/// The trees of all output chunks that have one, and the same in all of their elements.
struct OutputSums {
  std::vector<SumSteps> trees;
  std::vector<std::vector<std::uint32_t>> of; ///< [rank][chunk]: into `trees`, or ir::none
};

/// Returns the trees of the final values of a launch. Sums by a switch, minima and maxima have no trees.
OutputSums outputSums(const proof::FinalBuffers &end);

/// Keeps only the trees that two sizes of one program have in common.
void keepCommon(OutputSums &sums, const OutputSums &other);

} // namespace mscclc::passes
