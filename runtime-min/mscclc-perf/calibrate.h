// Makes a machine file from the times of a library's kernels.
#pragma once

#include "options.h"

namespace mscclc::perf {

/// Measures the experiments, fits the time model to them, and writes `options.output`. Writes nothing if anything
/// fails. Returns the exit code.
///
/// The kernels are in a library of experiments. The library's table mscclc_experiments (experiment_list.h) has the
/// program of each kernel.
int calibrate(const Options &options);

} // namespace mscclc::perf
