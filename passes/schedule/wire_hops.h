// Places the steps of a wire format: encode before a value leaves a rank, decode where it is read.
#pragma once

#include "ir/diagnostics.h"
#include "ir/program.h"

namespace mscclc::passes::schedule {

/// Makes values that leave a rank pass through scratch, which holds them in the wire format (ir::Hook::wire):
///
///   reduce 0.input[0:1] <- 0.input[0:1], 1.input[0:1]
///   copy 1.input[0:1] <- 0.input[0:1]
///
/// becomes
///
///   copy 0.scratch[0:1] <- 0.input[0:1]
///   copy 0.scratch[1:2] <- 1.input[0:1]
///   reduce 0.scratch[2:3] <- 0.scratch[0:1], 0.scratch[1:2]
///   copy 0.input[0:1] <- 0.scratch[2:3]
///   copy 1.scratch[0:1] <- 0.scratch[2:3]
///   copy 1.input[0:1] <- 1.scratch[0:1]
///
/// The rank of a sum also takes its own operand in the wire format. If the sum is sent, this rank keeps the sum as it
/// was sent, so that all ranks end with the same bits. A value that arrived in the wire format is sent on unchanged.
///
/// Reports an error at a partial sum, which would be rounded once more on its way, and at statements for which a wire
/// format is not possible: they use ports or the switch, reach another node, send an input that is not a sum, or send a
/// value that a hook has made. Programs without a wire format stay unchanged.
///
/// Requires: a program whose meaning is checked (meaningOf). Returns false if there was an error.
bool placeWire(ir::Program &program, ir::DiagnosticEngine &diags);

} // namespace mscclc::passes::schedule
