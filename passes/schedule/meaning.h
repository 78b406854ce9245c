// What a movement program means: what its statements leave in memory when they are executed one by one, in the order
// written, on the memory of all ranks at once.
//
// Memory is symbolic, as in the proof (passes/verify/values.h): each chunk holds an input of a rank or a reduction. A
// reduction is a left-to-right chain of steps, and each step is commutative. So two values are equal exactly if every
// element comes out with the same bits, for any inputs that are no NaN and whichever operand of a step comes first.
#pragma once

#include "passes/pass.h"
#include "passes/verify/values.h"

#include <optional>
#include <vector>

namespace mscclc::passes::schedule {

/// What inputs and outputs hold at the end.
struct Meaning {
  proof::Values values;                             ///< one unit a chunk; reductions have two parts each
  std::vector<std::vector<proof::ValueId>> inputs;  ///< [rank][chunk]
  std::vector<std::vector<proof::ValueId>> outputs; ///< [rank][chunk]; Values::unwritten where nothing wrote
  bool reassociate = false;                         ///< Order::Any: reductions may be taken in any order

  const std::vector<proof::ValueId> &chunksOf(std::uint32_t rank, ir::BufferKind buffer) const {
    return buffer == ir::BufferKind::Input ? inputs[rank] : outputs[rank];
  }
};

/// The meaning of `program`, as it was recorded: places of packets in scratch count as plain chunks, so it has to be
/// asked before `place`. Linear in the chunks that statements touch.
///
/// Reports an error, at its statement, where output or scratch is read that no statement wrote, where operands of a
/// statement overlap and are not equal, and where destinations of one do. Reports what outputs lack of the promise of
/// the collective at the statement that wrote the chunk last. Writing inputs out of place is a warning, at 100
/// statements at most. Returns nothing if there was an error. The search ends after many.
/// Requires: a program of statements that ir::checkStructure accepts.
std::optional<Meaning> meaningOf(const ir::Program &program, ir::DiagnosticEngine &diags);

} // namespace mscclc::passes::schedule

namespace mscclc::passes {

/// Reports what is wrong with the meaning of a movement program. Does nothing to other programs.
///
/// Requires: nothing. No level runs it: a compilation asks meaningOf() before its first pass, as the proof compares
/// with the answer. In a list of passes it belongs before `place`, as its findings are about what the user wrote.
/// Provides: nothing; it only reports.
Pass createCheckMeaningPass();

} // namespace mscclc::passes
