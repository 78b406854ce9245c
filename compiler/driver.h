// One run of the tool, from options to exit code.
#pragma once

#include "compiler/options.h"

namespace mscclc::driver {

/// Exit codes, as --help lists them.
enum ExitCode { exitDone = 0, exitInputWrong = 1, exitUsage = 2, exitInternal = 3 };

/// Does what `options` ask for. Diagnostics go to standard error; nothing is written unless all of it succeeded.
int run(const Options &options);

} // namespace mscclc::driver
