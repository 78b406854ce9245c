// Reads XML into a Schedule.
#pragma once

#include "frontend/xml/findings.h"
#include "frontend/xml/schedule.h"

#include <string_view>

namespace mscclc::xml {

/// Reads the schedule `text`. The result is valid only if `findings` then has no errors. Then every number is in its
/// range, ids count from 0, every step has the peers that it needs and touches chunks that its gpu states, and steps
/// may be waited for where others depend on them. Places are in `sources`.
Schedule readSchedule(std::string_view text, std::string_view filename, ir::SourceMap &sources, Findings &findings);

} // namespace mscclc::xml
