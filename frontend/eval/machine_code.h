// From an algorithm's LLVM IR to machine code in this process.
#pragma once

#include "frontend/eval/compiled_algorithm.h"

#include <string>

namespace mscclc::frontend {

/// Generates code for the algorithm and links it with what it may refer to. The result is its entry
/// (CompiledAlgorithm::function); null and why in `error` if there is none. The code stays as long as the process.
void (*generateCode(CompiledAlgorithm algorithm, std::string &error))();

} // namespace mscclc::frontend
