// From XML to a Schedule.
#pragma once

#include "frontend/xml/findings.h"
#include "frontend/xml/schedule.h"

#include <string_view>

namespace mscclc::xml {

/// Reads the schedule `text`. What it returns is only good if `findings` has no errors then: every number lies in its
/// range, ids count from 0, every step has the peers that it needs and touches chunks that its gpu states, and what it
/// depends on may be told. Places are in `sources`.
Schedule readSchedule(std::string_view text, std::string_view filename, ir::SourceMap &sources, Findings &findings);

} // namespace mscclc::xml
