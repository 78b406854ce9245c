// Runs a compiled algorithm.
#pragma once

#include "frontend/eval/compiled_algorithm.h"

namespace mscclc::frontend {

/// Adds the function that sets up the module's constants and calls the algorithm with its arguments, and stores its
/// name in CompiledAlgorithm::function. Throws ir::InternalError if the algorithm's machine-level parameters are not as
/// expected.
void addEntry(CompiledAlgorithm &algorithm);

/// Runs an algorithm from its entry on the arena's stack.
void runAlgorithm(void (*entry)());

} // namespace mscclc::frontend
