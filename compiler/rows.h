// The options for programs of rows: --pad, --counts and --rows.
#pragma once

#include "compiler/outputs/outputs.h"

namespace mscclc::driver {

/// Applies the options for programs of rows. With --pad, turns the program into one without rows. Otherwise reads
/// --counts and --rows, and makes kernels the target. If an option does not fit the program or the output, reports an
/// error and returns false.
bool settleRows(Job &job);

/// Decides whether Program::oncePerRank is on, if the program leaves this open. Compares the time of a launch for both
/// choices, with the rows of --counts and --rows and the scheduled message size. The choice is off if the program
/// cannot run on --machine. Requires a proof. If there is no such machine, or if a launch never ends, reports an error
/// and returns false.
bool chooseOncePerRank(Job &job);

} // namespace mscclc::driver
