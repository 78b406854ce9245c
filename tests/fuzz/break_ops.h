// Changes one operation of a program at a time.
#pragma once

#include "ir/program.h"

#include <functional>
#include <string>

namespace fuzz {

/// Calls `visit` with `program` changed in each of these ways, one at a time, on the ranks below `numRanks`: two
/// neighbouring operations are swapped; an operand is moved to the next chunk; an operand on another rank is moved to
/// the next rank; a reduce is doubled; the next operation uses the same packet slot; the release of a semaphore is
/// removed.
void changeEach(const mscclc::ir::Program &program, std::uint32_t numRanks,
                const std::function<void(const mscclc::ir::Program &, const std::string &)> &visit);

} // namespace fuzz
