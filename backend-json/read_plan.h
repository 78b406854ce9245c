// Reads an MSCCL++ execution plan into a program.
#pragma once

#include "ir/diagnostics.h"
#include "ir/program.h"

#include <optional>
#include <string_view>

namespace mscclc::json {

/// Returns the program of the plan `text`; nothing after errors. Each error names a place of `filename` by line, column
/// and JSON path. One call reports several errors.
///
/// The plan must have every field of the current format and no other field, except `root` and `tags` (plan_schema.h).
/// Ids and indices must be in the range of their lists. Numbers of chunks must be those of the collective. Gpus and
/// thread blocks must be in the order of their ids. Memory is at most proportional to the text.
///
/// `asRun`: the plan is checked as the executor will run it. Then a flush without entries, which the executor ignores,
/// is an error that options may allow. Without `asRun` it is accepted, because mscclc adds the entries when it writes
/// the plan again.
std::optional<ir::Program> readPlan(std::string_view text, std::string_view filename, ir::DiagnosticEngine &engine,
                                    bool asRun = false);

} // namespace mscclc::json
