// Measures the kernels that a manifest lists.
#pragma once

#include "options.h"

#include <cstdint>
#include <string>

namespace mscclc::perf {

/// Measures each kernel of `options.manifest`, also the candidates within its entries, as one of `options.processes`
/// processes. Sizes are those of the kernel's "predicted_us" that the options allow, or powers of `options.factor` if
/// it has none. The first process prints, and writes "measured_us" (microseconds by bytes) beside each kernel after
/// that kernel is measured. It writes no time of a result that is wrong on a rank of its own. A result that is wrong
/// only on ranks of other processes has a time: they report it, and their exit code is 1. A kernel that cannot run is
/// reported, loses the times of an earlier run, and the next one follows. Returns the exit code.
int measureManifest(const Options &options, uint32_t process, const std::string &rendezvous);

} // namespace mscclc::perf
