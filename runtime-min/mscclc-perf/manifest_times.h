// Measures the kernels that a manifest lists.
#pragma once

#include "options.h"

#include <cstdint>
#include <string>

namespace mscclc::perf {

/// Measures each kernel of `options.manifest`, also the candidates within its entries, as one of `options.processes`
/// processes. Sizes are those of the kernel's "predicted_us" that the options allow, or powers of `options.factor` if
/// it has none. The first process prints, and writes "measured_us" (microseconds by bytes) beside each kernel after
/// that kernel is measured. A wrong result has no time. A kernel that cannot run is reported, and the next one
/// follows. Returns the exit code.
int measureManifest(const Options &options, uint32_t process, const std::string &rendezvous);

} // namespace mscclc::perf
