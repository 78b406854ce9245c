// How large a message an executor takes: its offsets, its loops and the scratch it reuses bound the bytes of a chunk.
#pragma once

#include "ir/diagnostics.h"
#include "ir/program.h"
#include "passes/target.h"

namespace mscclc::passes {

/// Reports each operation that goes wrong on `target` at the largest message that the program allows. A program that
/// states no largest message gets the largest one that goes right, as a statement; what then goes wrong at the
/// smallest message is reported.
void limitMessages(ir::Program &program, const Target &target, ir::DiagnosticEngine &diags);

/// What limitMessages states for `program` where it states nothing itself.
std::uint64_t largestMessage(const ir::Program &program, const Target &target);

} // namespace mscclc::passes
