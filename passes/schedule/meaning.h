// The meaning of a movement program: the contents of memory after its statements were executed one by one, in the order
// of the source, on the memory of all ranks at once.
//
// Memory is symbolic, as in the proof (passes/verify/values.h). Each chunk holds either an input of a rank, or a
// reduction. A reduction is a left-to-right chain of steps, and each step is commutative. Example: sum(a, b, c) is the
// chain (a + b) + c. It equals (b + a) + c, but not a + (b + c). So two values are equal exactly if every element has
// the same bits, for any inputs without a NaN, and for either order of the operands of a step.
#pragma once

#include "passes/pass.h"
#include "passes/verify/values.h"

#include <optional>
#include <vector>

namespace mscclc::passes::schedule {

/// The contents of inputs and outputs at the end.
struct Meaning {
  proof::Values values;                             ///< one unit for each chunk; reductions have two parts each
  std::vector<std::vector<proof::ValueId>> inputs;  ///< [rank][chunk]
  std::vector<std::vector<proof::ValueId>> outputs; ///< [rank][chunk]; Values::unwritten where nothing wrote
  bool reassociate = false;                         ///< Order::Any: reductions may combine operands in any order

  const std::vector<proof::ValueId> &chunksOf(std::uint32_t rank, ir::BufferKind buffer) const {
    return buffer == ir::BufferKind::Input ? inputs[rank] : outputs[rank];
  }
};

/// Returns the meaning of `program` as it was recorded. It must be called before `place`, because it treats places of
/// packets in scratch as plain chunks. Takes linear time in the chunks that statements touch.
///
/// Reports an error at a statement that reads unwritten output or scratch. Reports an error if operands of a statement
/// overlap without being equal, or if its destinations overlap. If an output breaks the promise of the collective,
/// reports an error (promise.h). If a program that does not work in place writes inputs, reports warnings, at most at
/// 100 statements. Returns nothing if there was an error. Stops after many errors. Requires: a program of statements
/// that ir::checkStructure accepts.
std::optional<Meaning> meaningOf(const ir::Program &program, ir::DiagnosticEngine &diags);

} // namespace mscclc::passes::schedule

namespace mscclc::passes {

/// Reports errors in the meaning of a movement program. Does nothing for other programs.
///
/// Requires: nothing. No optimization level includes this pass: a compilation calls meaningOf() before its first pass,
/// because the proof compares the final program with the meaning. In a list of passes, this pass comes before `place`,
/// because its findings are about what the user wrote. Provides: nothing; it only reports.
Pass createCheckMeaningPass();

} // namespace mscclc::passes
