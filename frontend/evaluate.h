// Runs a compiled algorithm.
#pragma once

#include "frontend/compiled_algorithm.h"
#include "frontend/runtime_checks.h"

#include <span>
#include <string>

namespace mscclc::frontend {

/// Adds the function that sets up the module's constants and calls the algorithm with its arguments, and makes it
/// CompiledAlgorithm::function. Throws ir::InternalError if the algorithm's machine-level parameters are not as
/// expected.
void addEntry(CompiledAlgorithm &algorithm);

/// Machine code of an algorithm, in this process.
class LinkedAlgorithm {
public:
  /// Generates and links the code. On failure `error` tells why.
  static LinkedAlgorithm link(CompiledAlgorithm algorithm, std::string &error);
  /// Runs it on the arena's stack.
  void run() const;

private:
  void (*entry_)() = nullptr;
};

} // namespace mscclc::frontend
