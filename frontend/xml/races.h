// Finds races of a schedule: conflicts that its own order leaves open.
#pragma once

#include "frontend/xml/step_order.h"

namespace mscclc::xml {

/// Reports the races between steps of a gpu. Two steps race if they touch one chunk, at least one of them writes it,
/// and neither waits for the other, directly or through other steps. `order` is any order of the steps. A full buffer
/// between two gpus also makes steps wait. This does not count, because the size of the buffer is unknown. The <copy>
/// elements of a gpu come before its steps, and have no order among one another.
///
/// The time is proportional to the steps, times the thread blocks of their gpu. If the dependences inside a gpu do not
/// order its steps, its time is proportional to all steps, times its thread blocks. Past a limit the check stops and
/// reports this.
void checkRaces(const StepGraph &graph, const ir::ChunkCells &cells, const StepOrder &order, Findings &findings);

} // namespace mscclc::xml
