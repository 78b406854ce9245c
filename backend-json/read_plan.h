// Reads an MSCCL++ execution plan into a program.
#pragma once

#include "ir/diagnostics.h"
#include "ir/program.h"

#include <optional>
#include <string_view>

namespace mscclc::json {

/// Returns the program of the plan `text`; nothing after errors. Each error names a place of `filename` by line, column
/// and JSON path. One run finds several.
///
/// The plan must have every field of the current format and no other except `root` and `tags` (plan_schema.h). Ids and
/// indices must lie in their lists, numbers of chunks must be those of the collective, and gpus and thread blocks must
/// be in the order of their ids. Memory is at most proportional to the text. `asRun`: checks the plan as it is. Then a
/// flush that the executor does not see is an error (it may be allowed); a plan that is written again would have it.
std::optional<ir::Program> readPlan(std::string_view text, std::string_view filename, ir::DiagnosticEngine &engine,
                                    bool asRun = false);

} // namespace mscclc::json
