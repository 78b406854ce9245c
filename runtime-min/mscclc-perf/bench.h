// Runs a kernel over a range of sizes: checks, times, prints.
#pragma once

#include "options.h"

namespace mscclc::perf {

/// The part of one process of `options.processes`; the first prints. Returns the exit code.
int run(const Options &options, uint32_t process, const std::string &rendezvous);

} // namespace mscclc::perf
