// Runs a compiled algorithm.
#pragma once

#include "frontend/eval/compiled_algorithm.h"

namespace mscclc::frontend {

/// Adds a function that sets up the module's constants and calls the algorithm with its arguments. Stores the
/// function's name in CompiledAlgorithm::function. Throws ir::InternalError if the algorithm's machine-level parameters
/// are not as expected.
void addEntry(CompiledAlgorithm &algorithm);

/// Calls `entry` on the arena's stack, which runs the algorithm.
void runAlgorithm(void (*entry)());

} // namespace mscclc::frontend
