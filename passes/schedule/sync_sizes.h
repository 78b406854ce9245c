// The sizes in which a program is run to be written down: those in which it is proven.
#pragma once

#include "ir/program_index.h"
#include "passes/verify/geometry.h"

#include <vector>

namespace mscclc::passes::prune {

using ir::ProgramIndex;

/// The sizes in which a program is proven; nothing if it cannot be.
std::vector<proof::Geometry> sizesOf(const ProgramIndex &index);

/// True if launches of other sizes may find other chunks at a place of scratch.
bool sizesChange(const ir::Program &program);

} // namespace mscclc::passes::prune
