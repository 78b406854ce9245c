// Random movement programs that mean what they promise.
#pragma once

#include "ir/program.h"

#include <cstdint>

namespace fuzz {

/// A movement program of 2 to 16 ranks, on one node or several, in place or not: copies to one place or several, sums
/// of two operands or more, also through scratch that it names. In half of them places of different statements overlap
/// as they like. Some statements, in some programs almost all, say who executes them, in which block and through what.
/// Its custom collective promises what a run of the statements one by one, here, leaves in each output. Every eighth
/// seed makes one of copies over nodes, in packets where they can be, that decides nothing itself. Some are
/// all-gathers in place instead, where inputs are shares of outputs: these end with what gathers. All choices that are
/// left to the compiler are drawn as well.
mscclc::ir::Program randomMovement(std::uint64_t seed);

} // namespace fuzz
