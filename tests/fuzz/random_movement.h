// Random movement programs whose statements compute what their collective promises.
#pragma once

#include "ir/program.h"

#include <cstdint>

namespace fuzz {

/// Returns a movement program of 2 to 16 ranks on one or several nodes, in place or not. It copies to one or several
/// places, and sums two or more operands, also through scratch that it names. In half of the programs, places of
/// different statements overlap freely. Some statements (in some programs, almost all) say who executes them, in which
/// block and through which channel. The custom collective promises the outputs that the statements give when they are
/// run one by one; the generator does this itself. Every eighth seed gives a program of copies over nodes that leaves
/// all choices open, in packets where possible. Some programs are all-gathers in place, whose inputs are shares of the
/// outputs; these end with the statements of an all-gather. The compiler's other choices are also drawn at random.
/// `ordered`: the program asks for Order::Ranks or Order::Tree, and its statements allow that. Then outputs that are
/// promised the same sum have the same reduction tree.
mscclc::ir::Program randomMovement(std::uint64_t seed, bool ordered = false);

/// Returns an AllToAllV, a Dispatch or a Combine of 1 to 9 ranks. Slots of rows go to their receiver, or together with
/// others through scratch of one or two ranks.
mscclc::ir::Program randomRows(std::uint64_t seed);

} // namespace fuzz
