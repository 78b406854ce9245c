// The options of programs of rows: --pad and --counts.
#pragma once

#include "compiler/outputs/outputs.h"

namespace mscclc::driver {

/// Makes a program without rows of one of rows, as --pad says. Otherwise reads --counts, and makes kernels the target.
/// Returns false if an option does not fit the program or the output, which is reported.
bool settleRows(Job &job);

} // namespace mscclc::driver
