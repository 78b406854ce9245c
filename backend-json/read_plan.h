// Reads an MSCCL++ execution plan back into a program.
#pragma once

#include "ir/diagnostics.h"
#include "ir/program.h"

#include <optional>
#include <string_view>

namespace mscclc::json {

/// The program that the plan `text` describes, or nothing after errors. Each error names a place of `filename` by line,
/// column and JSON path; several are found in one run.
///
/// Every field of the current plan format must be there and no other but `root` (plan_schema.h); ids and indices must
/// lie in their lists; the numbers of chunks must be those of the collective; gpus and thread blocks stand in the order
/// of their ids. Memory is at most proportional to the text. `asRun`: the plan is judged as it stands, so a flush that
/// the executor does not see is an error (it may be allowed); written again, it would be seen.
std::optional<ir::Program> readPlan(std::string_view text, std::string_view filename, ir::DiagnosticEngine &engine,
                                    bool asRun = false);

} // namespace mscclc::json
