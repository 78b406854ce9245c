// The order of sums that a program asks for: Order::Ranks or Order::Tree.
#pragma once

#include "ir/diagnostics.h"
#include "ir/program.h"

namespace mscclc::passes::schedule {

/// Orders the operands of sums and products as Movement::order asks. Other orders leave the program as it is.
///
/// Order::Ranks sorts the operands of a reduction by their ranks. Order::Tree also divides a reduction into several
/// ones, with partial sums in scratch of the result's rank:
///
///   reduce 0.output[0:1] <- 3.input[0:1], 0.input[0:1], 1.input[0:1], 2.input[0:1]
///
/// becomes, with four chunks of scratch before,
///
///   reduce 0.scratch[4:5] <- 2.input[0:1], 3.input[0:1]
///   reduce 0.output[0:1] <- 0.input[0:1], 1.input[0:1], 0.scratch[4:5]
///
/// An operand may be a partial sum. If partial sums do not fit the order, as in a ring, reports an error at the
/// statement. If the chunks of a statement need different orders, the statement is divided.
///
/// Requires: a program whose meaning is checked (meaningOf). A program that already has this order stays the same,
/// except for the names of scratch. Returns false if there was an error.
bool orderSums(ir::Program &program, ir::DiagnosticEngine &diags);

} // namespace mscclc::passes::schedule
