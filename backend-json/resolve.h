// From the indices of a plan to those of the IR.
#pragma once

#include "backend-json/value_reader.h"
#include "ir/program.h"

namespace mscclc::json {

/// Turns the indices in all operations of `rank` from those of their block's tables into the rank's own, and reports
/// those that are out of range; false if there were any. The structural checker looks at the rest. `gpu`: where the
/// rank stands in the text that `in` reads.
bool resolve(ir::Rank &rank, const ValueReader::Anchor &gpu, ValueReader &in);

} // namespace mscclc::json
