// Generates machine code from an algorithm's LLVM IR in this process.
#pragma once

#include "frontend/eval/compiled_algorithm.h"

#include <string>

namespace mscclc::frontend {

/// Generates code for the algorithm and links it with the allowed symbols. Returns the address of
/// CompiledAlgorithm::function. After a failure, returns null and stores the reason in `error`. The code stays as long
/// as the process.
void (*generateCode(CompiledAlgorithm algorithm, std::string &error))();

} // namespace mscclc::frontend
