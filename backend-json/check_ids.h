// The ids of a list of gpus or thread blocks.
#pragma once

#include "backend-json/diagnostics.h"

#include <functional>
#include <string_view>
#include <vector>

namespace mscclc::json {

/// Reports those of the i-th entry of a list.
using ReportId = std::function<void(std::size_t i, const ir::DiagInfo &, const std::vector<ir::DiagArg> &)>;

/// Reports `ids`, of the entries of a list, unless they are 0, 1, … in order: the executor takes some of what an entry
/// holds by its id and the rest by its position (execution_plan.cc, setupOperations). `what`: what the entries are.
void checkIds(const std::vector<std::uint32_t> &ids, std::string_view what, const ReportId &report);

} // namespace mscclc::json
