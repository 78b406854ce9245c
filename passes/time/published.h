// The times that NCCL's authors and users have published (runtime-min/python/mscclc/published.csv).
#pragma once

#include "passes/time/costs.h"
#include "passes/time/machine.h"

#include "ir/program.h"

#include <cstdint>
#include <optional>

namespace mscclc::passes::time {

/// Returns the time that NCCL takes for the program's collective with a message of this many bytes, in nanoseconds.
/// Returns nothing if no time is published for this number of ranks, machine and size.
std::optional<Time> publishedTime(const ir::Program &program, const Machine &machine, std::uint64_t messageBytes);

} // namespace mscclc::passes::time
