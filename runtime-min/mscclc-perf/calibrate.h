// From times of a library's kernels to a machine file.
#pragma once

#include "options.h"

namespace mscclc::perf {

/// Measures the experiments, fits the time model to them, and writes `options.output`: nothing unless all went well.
/// Returns the exit code.
///
/// A library of experiments has the kernels, and in mscclc_experiments (see experiment_list.h) the program of each.
int calibrate(const Options &options);

} // namespace mscclc::perf
