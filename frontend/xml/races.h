// Races of a schedule: what its own order leaves open.
#pragma once

#include "frontend/xml/step_order.h"

namespace mscclc::xml {

/// Reports pairs of steps of a gpu that touch one chunk, one of them writing, while neither waits for the other,
/// directly or through others. `order` is any order of the steps. What a full buffer between two gpus makes steps wait
/// for does not count, as nobody says how much it holds. So with a gpu's <copy> elements, which come before its steps
/// in an order that nobody states.
///
/// Takes time in proportion to steps times the thread blocks of their gpu, and where a gpu's own dependences do not put
/// its steps in order, all steps times its thread blocks. Past a limit on that it reports so.
void checkRaces(const StepGraph &graph, const ir::ChunkCells &cells, const StepOrder &order, Findings &findings);

} // namespace mscclc::xml
