// The driver's side of the C++ front end; built only where that is.
#pragma once

#include "compiler/options.h"
#include "compiler/timing.h"

#include "ir/diagnostics.h"
#include "ir/program.h"

#include <optional>
#include <string>

namespace mscclc::driver {

/// Evaluates the algorithm that `options` name. `text` is the source where the input is standard input.
std::optional<ir::Program> evaluateAlgorithm(const Options &options, std::string text, ir::DiagnosticEngine &diags,
                                             StageTimes &times);

/// Prints the algorithms of the input with their parameters to the output. False after errors.
bool listAlgorithms(const Options &options, ir::DiagnosticEngine &diags);

/// Reads the DSL's headers ahead, into a file in `directory` (frontend::precompileDsl). The exit code; errors are
/// printed.
int precompileDsl(const std::string &directory);

} // namespace mscclc::driver
