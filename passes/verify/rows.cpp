// Rows: what programs may do with them, where they may lie, and which rows each operation moves.
#include "passes/verify/rows.h"

#include "passes/verify/report.h"

#include "ir/collectives.h"
#include "ir/cursor.h"
#include "ir/expert_places.h"
#include "ir/internal_error.h"
#include "ir/op_memory.h"

#include <algorithm>

namespace mscclc::passes::proof {

bool placesHold(std::uint32_t slots, const std::function<ir::RowSum(std::uint32_t slot)> &beginOf, bool fits) {
  ir::RowSum end; // end of the slot before
  end.slots.resize(slots);
  const auto isFrom = [](ir::RowSum upper, const ir::RowSum &lower) {
    upper.capacities -= lower.capacities;
    for (std::size_t i = 0; i < upper.slots.size(); ++i) {
      upper.slots[i].live -= lower.slots[i].live;
      upper.slots[i].excess -= lower.slots[i].excess;
    }
    const auto least = upper.least();
    return least && *least >= 0;
  };
  for (std::uint32_t slot = 0; slot < slots; ++slot) {
    const ir::RowSum begin = beginOf(slot);
    if (!isFrom(begin, end))
      return false;
    end = begin;
    ++end.slots[slot].live;
  }
  return !fits || isFrom({slots, std::vector<ir::RowSum::Factors>(slots)}, end);
}

bool expertCellsHold(const ir::ExpertCells &cells) {
  const std::uint32_t groups = ir::ExpertPlaces{cells}.groups();
  return placesHold(
             cells.experts, [&](std::uint32_t expert) { return cells.beginInSlot(expert); }, true) &&
         placesHold(
             cells.count(), [&](std::uint32_t number) { return cells.begin(number); }, true) &&
         placesHold( // with an alignment, a group is a slot: what it takes is at most what a full one takes
             groups,
             [&](std::uint32_t group) {
               return ir::rowBegin(ir::RowLayout::Packed, ir::BufferKind::Output, groups, group);
             },
             true);
}

namespace {

/// Returns why `op` must not be in a program of rows; empty if it may be.
std::string_view faultOf(const ProgramIndex &index, std::uint32_t block, const ir::Op &op) {
  if (op.kind == ir::OpKind::Pipeline)
    return "a pipeline divides chunks by bytes, and the number of live rows is not known";
  const ir::Stored stored = ir::info(op.kind).stored;
  if (stored == ir::Stored::Nothing)
    return {};
  if (stored != ir::Stored::Sources)
    return "it computes elements, and rows are only moved";
  if (ir::isPacketOp(op.kind))
    return "packets of rows that are not live are never sent, so what they order depends on counts";
  if (op.channelType == ir::ChannelType::Switch)
    return "a switch reaches one place on all ranks, and the places of rows differ";
  if (op.groupSize != 0)
    return "a thread-block group divides chunks by bytes, and the number of live rows is not known";
  for (const ir::Chunk &chunk : index.ops(block).dsts(op))
    if (bufferOf(index.program.ranks[index.rankOf(block)], chunk) == ir::BufferKind::Input)
      return "it writes to an input, whose rows lie where the counts say: use scratch";
  return {};
}

} // namespace

bool checkRows(const ProgramIndex &index, Findings &findings) {
  const ir::Program &program = index.program;
  if (!ir::info(program.collective.kind).hasRows)
    return true;
  const ir::RowLayout layout = program.collective.rows;
  for (const ir::BufferKind buffer : {ir::BufferKind::Input, ir::BufferKind::Output}) {
    const auto beginOf = [&](std::uint32_t slot) { return ir::rowBegin(layout, buffer, index.numRanks(), slot); };
    // Counts may give a packed input more rows than it has room for. Then a slot's place is cut at the end of the
    // buffer (ir::rowPlace). Places stay disjoint.
    if (!placesHold(index.numRanks(), beginOf, layout == ir::RowLayout::Padded || buffer == ir::BufferKind::Output))
      throw ir::InternalError("slots of a row layout may overlap");
  }
  if (!expertCellsHold(ir::expertCellsOf(program)))
    throw ir::InternalError("cells of experts may overlap");
  const std::uint64_t before = findings.errors();
  for (std::uint32_t rank = 0; rank < index.numRanks(); ++rank)
    if (program.ranks[rank].blocks.empty())
      if (auto *f = findings.addOnRank(diag::rows_rank_idle, rank))
        f->args = {rank};
  ir::forEachOp(index, [&](std::uint32_t b, std::uint32_t o) {
    const ir::Op &op = index.ops(b).ops[o];
    if (const std::string_view fault = faultOf(index, b, op); !fault.empty())
      findings.report(diag::rows_operation, index.place(b, o), {ir::wordOf(program, op), fault});
  });
  return findings.errors() == before;
}

/// Records which input chunks' rows `source` holds.
void CheckedRun::noteRows(const Operand &source) {
  const DataStep &step = data_.step();
  const std::uint32_t units = geometry_.unitsPerChunk();
  for (std::uint32_t u = 0; u < source.count; u += units) {
    const ValueId value = now_.values[u];
    if (value == Values::unknown) // there is a race, which is reported
      continue;
    if (value == Values::unwritten)
      listener_.rowsUnknown(placeOf(step), source.first + u);
    else
      rows_->set(placeOf(step), source.ref - step.op->firstChunk, u / units, values_.contribution(value));
  }
}

/// Checks that the operation's values, from unit `unit` on, belong into `destination`.
void CheckedRun::checkRowPlaces(const Operand &destination, std::uint32_t unit) {
  if (control_.launch() != 0)
    return;
  const ir::Program &program = index_.program;
  for (std::uint32_t u = 0; u < destination.count; ++u) {
    const CellPlace place = memory_.locate(destination.first + u);
    const ValueId value = now_.values[unit + u];
    if (place.buffer != ir::BufferKind::Output || value <= Values::unknown)
      continue;
    const ir::Contribution held = values_.contribution(value);
    if (held !=
        ir::contributionOf(program.collective, index_.numRanks(), ir::chunksOfShare(program), place.rank, place.chunk))
      listener_.rowsMisplaced(placeOf(data_.step()), destination.first + u, held);
  }
}

void Reporter::rowsUnknown(ir::OpRef op, CellId cell) {
  findings_.report(diag::rows_unknown, op,
                   {ir::wordOf(index_.program, ir::opAt(index_.program, op)), memory_.describe(cell)});
}

void Reporter::rowsMisplaced(ir::OpRef op, CellId cell, const ir::Contribution &content) {
  const CellPlace place = memory_.locate(cell);
  const ir::RowPart wanted = rowPartOf(index_.program, place.rank, ir::BufferKind::Output, place.chunk);
  const ir::RowPart held = rowPartOf(index_.program, content.rank, ir::BufferKind::Input, content.chunk);
  findings_.report(diag::rows_misplaced, op, {memory_.describe(cell), wanted.src, wanted.dst, held.src, held.dst});
}

} // namespace mscclc::passes::proof
