// Checks what programs do with rows, and where rows lie in buffers.
#pragma once

#include "ir/rows.h"
#include "passes/verify/findings.h"

#include <functional>

namespace mscclc::passes::proof {

/// True if, for all counts, no slot begins before the end of the slot before it. `beginOf(slot)` is the row at which a
/// slot begins. If `fits`, the last slot must also end within `slots` capacities. The check takes the least values of
/// differences, which are linear in the counts.
bool placesHold(std::uint32_t slots, const std::function<ir::RowSum(std::uint32_t slot)> &beginOf, bool fits);

/// True if, for all counts, the cells of experts are disjoint and within their buffer. There are cells in a slot, and
/// cells in the layout of experts. The check also covers slots that have only the rows of first entries, with counts of
/// their own (Program::oncePerRank).
bool expertCellsHold(const ir::ExpertCells &cells);

/// Returns true if the program has no rows, or if its operations only move rows and its layout is right. Reports
/// everything else that a program of rows does.
bool checkRows(const ProgramIndex &index, Findings &findings);

} // namespace mscclc::passes::proof
