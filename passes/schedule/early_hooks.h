// Hooks that one rank can apply for all.
#pragma once

#include "ir/program.h"

namespace mscclc::passes::schedule {

/// Applies hooks before the copies of a value instead of after them, where the result is the same for all ranks
/// (ir::Hook::isOfRank):
///
///   copy 1.output[0:1] <- 0.output[0:1]
///   apply hook0 0.output[0:1] <- 0.output[0:1]
///   apply hook0 1.output[0:1] <- 1.output[0:1]
///
/// becomes
///
///   apply hook0 0.output[0:1] <- 0.output[0:1]
///   copy 1.output[0:1] <- 0.output[0:1]
///
/// With a wire format or Lamport packets the program stays as it is: these would change the result on its way to other
/// ranks.
///
/// Requires: a program whose meaning is checked (meaningOf). The meaning stays the same. A hook is not moved if
/// anything else reads the value before the hook is applied. Returns the number of chunks to which a hook is no longer
/// applied.
std::uint64_t applyEarly(ir::Program &program);

} // namespace mscclc::passes::schedule
