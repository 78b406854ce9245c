// Converts the indices of a plan to those of the IR.
#pragma once

#include "backend-json/value_reader.h"
#include "ir/program.h"

namespace mscclc::json {

/// Converts the indices in all operations of `rank`: indices into tables of a block become indices of the rank. Reports
/// indices out of range, and returns false if there were any. The structural checker checks the rest. `gpu`: the place
/// of the rank in the text that `in` reads.
bool resolve(ir::Rank &rank, const ValueReader::Anchor &gpu, ValueReader &in);

} // namespace mscclc::json
