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
/// Every field of the current plan format must be there and no other; ids and indices must lie in their lists; the
/// numbers of chunks must be those of the collective. Gpus and thread blocks listed out of order are put in order,
/// with a warning. Operations have no source locations. Memory is at most proportional to the text.
std::optional<ir::Program> readPlan(std::string_view text, std::string_view filename, ir::DiagnosticEngine &engine);

} // namespace mscclc::json
