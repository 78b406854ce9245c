// Random movement programs that mean what they promise.
#pragma once

#include "ir/program.h"

#include <cstdint>

namespace fuzz {

/// A movement program of 2 to 16 ranks, on one node or several, in place or not: copies to one place or several, sums
/// of two operands or more, also through scratch that it names. Its custom collective promises what a run of the
/// statements one by one, here, leaves in each output. All choices that are left to the compiler are drawn as well.
mscclc::ir::Program randomMovement(std::uint64_t seed);

} // namespace fuzz
