// Rows: what programs may do with them, and where they may lie.
#pragma once

#include "ir/rows.h"
#include "passes/verify/findings.h"

#include <functional>

namespace mscclc::passes::proof {

/// True if, for all counts, no slot begins before the end of the slot before it, where `beginOf(slot)` is the row at
/// which a slot begins. `fits`: and if the last one of `slots` ends within as many capacities. Decides it by the least
/// values of differences, which are linear in the counts.
bool placesHold(std::uint32_t slots, const std::function<ir::RowSum(std::uint32_t slot)> &beginOf, bool fits);

/// True if, for all counts, the cells of experts are disjoint and within their buffer: in a slot, and in the layout of
/// experts. That also holds for a slot with the rows of first entries alone, which have counts of their own
/// (Program::oncePerRank).
bool expertCellsHold(const ir::ExpertCells &cells);

/// Returns true if the program has no rows, or its operations only move rows and its layout holds. Reports what else a
/// program of rows does.
bool checkRows(const ProgramIndex &index, Findings &findings);

} // namespace mscclc::passes::proof
