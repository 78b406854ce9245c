// The options of programs of rows: --pad, --counts and --rows.
#pragma once

#include "compiler/outputs/outputs.h"

namespace mscclc::driver {

/// Makes a program without rows of one of rows, as --pad says. Otherwise reads --counts and --rows, and makes kernels
/// the target. Returns false if an option does not fit the program or the output, which is reported.
bool settleRows(Job &job);

/// Decides Program::oncePerRank, if it is open, by the times of a launch of the rows that --counts and --rows say, and
/// of the size that the program is scheduled for. It is off if the program cannot run on --machine. Requires a proof.
/// Returns false if there is no such machine, or a launch never ends, which is reported.
bool chooseOncePerRank(Job &job);

} // namespace mscclc::driver
