// One run of the tool, from options to exit code.
#pragma once

#include "compiler/options.h"
#include "ir/diagnostics.h"

namespace mscclc::driver {

/// Exit codes, as --help lists them.
enum ExitCode { exitDone = 0, exitInputWrong = 1, exitUsage = 2, exitInternal = 3 };

/// Returns the exit code of a run with these diagnostics. `isDone`: the run completed. The `.def` files of diagnostics
/// say which exit code belongs to each error.
inline ExitCode exitCodeOf(bool isDone, const ir::DiagnosticEngine &diags) {
  return isDone && !diags.hasErrors() ? exitDone : static_cast<ExitCode>(diags.exitCode());
}

/// Does what `options` ask for. Diagnostics go to standard error; nothing is written unless all of it succeeded.
int run(const Options &options);

} // namespace mscclc::driver
