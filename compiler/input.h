// Loads a program, whatever form it comes in.
#pragma once

#include "compiler/options.h"
#include "compiler/timing.h"

#include "ir/diagnostics.h"
#include "ir/program.h"

#include <optional>

namespace mscclc::driver {

/// The kind that `path` or the text's first characters show; never Auto.
InputKind kindOfInput(const Options &options, std::string_view text);

/// Reads and translates the input. Errors go to `diags`. Algorithms are evaluated; plans and IR text are read and
/// their structure is checked. `kind` is set to what the input turned out to be.
std::optional<ir::Program> loadProgram(const Options &options, ir::DiagnosticEngine &diags, StageTimes &times,
                                       InputKind &kind);

} // namespace mscclc::driver
