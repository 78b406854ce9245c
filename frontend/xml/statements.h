// Turns the steps of a schedule into statements that move data.
#pragma once

#include "frontend/xml/step_order.h"

namespace mscclc::xml {

/// Appends statements with the effects of the steps to `program`, in the given order, in chunks of the schedule. One
/// statement moves a message from its sender's place to its receiver's place, and belongs to the receiver. Sums in
/// flight get new scratch, and so do messages that must be kept. `keepBlocks`: the gpu and the thread block of each
/// step execute its statement. A sum with a message then becomes two statements: the sender puts the message into
/// scratch, and the receiver reduces.
void appendStatements(const StepGraph &graph, const StepOrder &order, const StoredSums &stored, bool keepBlocks,
                      ir::Program &program);

} // namespace mscclc::xml
