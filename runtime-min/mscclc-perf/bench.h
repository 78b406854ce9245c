// Runs a kernel over a range of sizes: checks, times, prints.
#pragma once

#include "options.h"
#include "rows.h"

namespace mscclc::perf {

/// Runs a kernel over the rows that the options ask for, as the part of one process of `options.processes`; the first
/// prints. Rows that memory has no room for are left out. Throws runtime::Error.
Measured measure(const Options &options, const MscclcKernel &kernel, uint32_t process, const std::string &rendezvous);

/// Runs the kernel that the options name. The part of one process of `options.processes`; the first prints. Returns the
/// exit code.
int run(const Options &options, uint32_t process, const std::string &rendezvous);

} // namespace mscclc::perf
