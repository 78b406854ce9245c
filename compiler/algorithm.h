// The driver's side of the C++ front end; built only with the front end.
#pragma once

#include "compiler/options.h"
#include "compiler/timing.h"

#include "frontend/frontend.h"
#include "ir/diagnostics.h"
#include "ir/program.h"

#include <optional>
#include <string>

namespace mscclc::driver {

/// Evaluates the algorithm that `options` name. `text` is the source, if it is not in a file. `files` receives the
/// user's files that were read.
std::optional<ir::Program> evaluateAlgorithm(const Options &options, std::optional<std::string> text,
                                             ir::DiagnosticEngine &diags, StageTimes &times,
                                             std::vector<std::string> &files);

/// Returns the algorithm that `options` name, or the only algorithm of the input. Returns nothing after errors. Also
/// returns nothing if there is no such algorithm; evaluateAlgorithm() then reports this error.
std::optional<frontend::AlgorithmInfo> findAlgorithm(const Options &options, std::optional<std::string> text,
                                                     ir::DiagnosticEngine &diags);

/// Returns the algorithms of the input with their parameters. Returns nothing after errors. `text`: see
/// evaluateAlgorithm.
std::optional<std::vector<frontend::AlgorithmInfo>>
listAlgorithms(const Options &options, std::optional<std::string> text, ir::DiagnosticEngine &diags);

/// Describes algorithms for a terminal: name, doc comment, and a line for each parameter with setting, type and
/// enumerators.
std::string describe(const std::vector<frontend::AlgorithmInfo> &algorithms);

/// Precompiles the DSL's headers into a file in `directory` (frontend::precompileDsl). Prints errors. Returns the exit
/// code.
int precompileDsl(const std::string &directory);

} // namespace mscclc::driver
