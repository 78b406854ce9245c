// From the steps of a schedule to statements that move data.
#pragma once

#include "frontend/xml/step_order.h"

namespace mscclc::xml {

/// Appends to `program` what the steps do, in this order, in chunks of the schedule. A message goes from its sender's
/// place to its receiver's in one statement, the receiver's. Sums that are in flight get new scratch, and so do
/// messages that have to be kept. `keepBlocks`: each statement is executed by the gpu and the thread block of its step,
/// and a sum with a message becomes two statements: its sender puts it into scratch, and its receiver reduces.
void appendStatements(const StepGraph &graph, const StepOrder &order, const StoredSums &stored, bool keepBlocks,
                      ir::Program &program);

} // namespace mscclc::xml
