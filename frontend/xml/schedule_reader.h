// Reads XML into a Schedule.
#pragma once

#include "frontend/xml/findings.h"
#include "frontend/xml/schedule.h"

#include <string_view>

namespace mscclc::xml {

/// Reads the schedule `text`. The result is valid only if `findings` then has no errors. In a valid schedule every
/// number is in its range, and ids count from 0. Every step has its peers, and touches only chunks that its gpu states.
/// A step that others depend on has `hasdep`, or a later step of its block has it. Places are in `sources`.
Schedule readSchedule(std::string_view text, std::string_view filename, ir::SourceMap &sources, Findings &findings);

} // namespace mscclc::xml
