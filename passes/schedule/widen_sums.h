// Keeps partial results of sums in scratch, where they are wide: Accumulate::Wide.
#pragma once

#include "ir/diagnostics.h"
#include "ir/program.h"

namespace mscclc::passes::schedule {

/// Moves partial results of sums and products, to which a later statement adds, from inputs and outputs to scratch of
/// the same rank. Statements that only pass partial results on then copy from scratch to scratch:
///
///   reduce 1.output[0:1] <- 0.input[0:1], 1.input[0:1]
///   reduce 2.output[0:1] <- 1.output[0:1], 2.input[0:1]
///
/// becomes, with no scratch before,
///
///   reduce 1.scratch[0:1] <- 0.input[0:1], 1.input[0:1]
///   reduce 2.output[0:1] <- 1.scratch[0:1], 2.input[0:1]
///
/// At the end, the final values of outputs are copied from scratch to the outputs. If only some chunks of a statement
/// move, the statement is divided. A program without partial results keeps its statements, and gets Accumulate::Once.
///
/// `onExecutor`: the program is for an executor, whose scratch holds elements as they are. Then partial results are
/// errors at the statements that make them. Programs with another Accumulate stay unchanged.
///
/// Requires: a program whose meaning is checked (meaningOf). Returns false if there was an error.
bool widenSums(ir::Program &program, bool onExecutor, ir::DiagnosticEngine &diags);

} // namespace mscclc::passes::schedule
