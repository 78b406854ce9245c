// Measures the kernels that a manifest lists.
#pragma once

#include "options.h"

#include <cstdint>
#include <string>

namespace mscclc::perf {

/// Measures each kernel of `options.manifest`, also the candidates within its entries, as one of `options.processes`
/// processes. If a kernel has "predicted_us", its sizes are in the range of these predictions. The options may limit
/// this range. The first process prints, and writes "measured_us" (microseconds by bytes) beside each kernel after that
/// kernel is measured. It leaves out a size if one of its own ranks has a wrong result. If only ranks of other
/// processes have wrong results, the time is written, and those processes report the error and exit with 1. If a kernel
/// cannot run, this is reported, its times of an earlier run are removed, and the next kernel follows. Returns the exit
/// code.
int measureManifest(const Options &options, uint32_t process, const std::string &rendezvous);

} // namespace mscclc::perf
