// Programs with one operation changed.
#pragma once

#include "ir/program.h"

#include <functional>
#include <string>

namespace fuzz {

/// Calls `visit` with `program` changed in each of these ways, one at a time, on the ranks below `numRanks`: two
/// neighbouring operations swapped; a chunk moved on by one; an operand of another rank moved to the next one; a reduce
/// doubled; a packet slot used again by the next operation; a semaphore's release gone.
void changeEach(const mscclc::ir::Program &program, std::uint32_t numRanks,
                const std::function<void(const mscclc::ir::Program &, const std::string &)> &visit);

} // namespace fuzz
