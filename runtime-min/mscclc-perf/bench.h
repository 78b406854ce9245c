// Runs a kernel over a range of sizes. Checks, times and prints the results.
#pragma once

#include "options.h"
#include "rows.h"

namespace mscclc::perf {

/// Returns the kernel `options.kernel` of the library `options.library`. Throws runtime::Error.
const MscclcKernel &findKernel(const Options &options);

/// Runs a kernel over the rows that the options select, as one of `options.processes` processes. The first process
/// prints. Rows that do not fit into memory are left out. Throws runtime::Error.
Measured measure(const Options &options, const MscclcKernel &kernel, uint32_t process, const std::string &rendezvous);

/// Runs the kernel that the options name, as one of `options.processes` processes. Only the first process prints rows.
/// Returns the exit code.
int run(const Options &options, uint32_t process, const std::string &rendezvous);

} // namespace mscclc::perf
