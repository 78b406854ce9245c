// The structural checker's part for statements that move data.
#include "ir/internal_error.h"
#include "ir/ir_diagnostics.h"
#include "ir/structure_checker.h"

#include <algorithm>

namespace mscclc::ir {

void requireBlocks(const Program &program) {
  if (!program.movement.statements.empty())
    throw InternalError("statements that no pass has made thread blocks of, where thread blocks are needed");
}

void StructureChecker::checkMovement() {
  const std::vector<Move> &statements = program_.movement.statements;
  if (statements.empty())
    return;
  at_ = {.statement = 0};
  if (program_.schedule == Schedule::Manual)
    fault(diag::statements_manual, {});
  const auto firstOperation = [&]() -> std::optional<ProgramPlace> {
    for (std::uint32_t r = 0; r < numRanks_; ++r)
      for (std::uint32_t b = 0; b < program_.ranks[r].blocks.size(); ++b)
        if (!program_.ranks[r].blocks[b].ops.empty())
          return ProgramPlace{r, b, 0};
    return std::nullopt;
  };
  if (const auto place = firstOperation())
    faultAt(*place, locOf(*place), diag::statements_and_operations, {plural(statements.size(), "statement")});
  for (std::uint32_t i = 0; i < statements.size() && !full(); ++i) {
    at_.statement = i;
    checkMove(statements[i]);
  }
  at_ = {};
}

void StructureChecker::checkMove(const Move &move) {
  const Movement &movement = program_.movement;
  const std::string_view kind = toString(move.kind);
  const std::uint64_t end = std::uint64_t{move.firstPlace} + move.numSrcs + move.numDsts;
  if (end > movement.places.size()) {
    fault(diag::places_outside,
          {kind, std::to_string(move.firstPlace) + ":" + std::to_string(end), movement.places.size()});
    return;
  }
  if (move.loc >= program_.sources.size())
    fault(diag::unknown_location_id, {move.loc, plural(program_.sources.size() - 1, "location")});
  const bool applies = move.kind == MoveKind::Apply;
  if (move.kind != MoveKind::Reduce && move.reduceOp != ReduceOp::Sum)
    fault(diag::field_not_allowed, {kind, "reduce operation"});
  if (move.hook != 0 && !applies)
    fault(diag::field_not_allowed, {kind, "hook"});
  if (applies && (move.via || move.packets))
    fault(diag::field_not_allowed, {kind, move.via ? "way to other ranks" : "packets"});
  if (move.by && *move.by >= numRanks_)
    fault(diag::move_by, {kind, *move.by, plural(numRanks_, "rank")});
  else if (move.by && std::ranges::none_of(movement.placesOf(move),
                                           [&](const RankChunk &place) { return place.rank == *move.by; }))
    fault(diag::move_by_apart, {kind, *move.by});
  if (move.block && *move.block >= maxMoveBlocks)
    fault(diag::move_block, {kind, *move.block, maxMoveBlocks});
  if (!checkCounts(move))
    return;
  if (move.firstAfter != 0 && move.kind != MoveKind::Reduce)
    fault(diag::field_not_allowed, {kind, "place of the first source among the others"});
  else if (move.firstAfter != 0 && move.firstAfter >= move.numSrcs)
    fault(diag::first_after_range, {kind, move.firstAfter, plural(move.numSrcs, "source")});
  const std::size_t before = numFaults_;
  checkPlaces(move, Side::Source, movement.srcs(move));
  checkPlaces(move, Side::Destination, movement.dsts(move));
  if (!applies || numFaults_ != before)
    return;
  const RankChunk &place = movement.dsts(move)[0];
  if (place != movement.srcs(move)[0])
    fault(diag::move_apply, {kind});
  checkHookUse(kind, move.hook, place.rank, {spaceOf(place.buffer), place.index, place.size, 0}, false);
}

bool StructureChecker::checkCounts(const Move &move) {
  const bool reduces = move.kind == MoveKind::Reduce;
  const auto check = [&](Side side, std::uint32_t count, std::uint32_t least, bool more) {
    if (count == least || (count > least && more))
      return true;
    fault(diag::operand_count,
          {toString(move.kind), countWords(least, more, sideNames[static_cast<std::size_t>(side)]), count});
    return false;
  };
  const bool sources = check(Side::Source, move.numSrcs, reduces ? 2 : 1, reduces);
  return check(Side::Destination, move.numDsts, 1, move.kind != MoveKind::Apply) && sources;
}

/// Checks the places on one side of a statement. They must have the size of the first source.
void StructureChecker::checkPlaces(const Move &move, Side side, std::span<const RankChunk> places) {
  const std::string_view kind = toString(move.kind), sideName = sideNames[static_cast<std::size_t>(side)];
  const std::uint32_t size = program_.movement.srcs(move)[0].size;
  for (std::uint32_t i = 0; i < places.size() && !full(); ++i) {
    const RankChunk &place = places[i];
    if (place.rank >= numRanks_) {
      fault(diag::move_rank, {kind, sideName, i, place.rank, plural(numRanks_, "rank")});
      continue;
    }
    const std::uint32_t limit = program_.ranks[place.rank].chunksOf(place.buffer);
    const std::uint64_t end = std::uint64_t{place.index} + place.size;
    if (place.size == 0)
      fault(diag::chunk_empty, {kind, sideName, i});
    else if (end > limit)
      fault(diag::chunk_out_of_range, {kind, std::to_string(place.rank) + "." + std::string(toString(place.buffer)),
                                       place.index, end, plural(limit, "chunk")});
    else if (place.size != size)
      fault(diag::chunk_sizes_differ, {kind, sideName, i, plural(place.size, "chunk"),
                                       sideNames[static_cast<std::size_t>(Side::Source)], 0, plural(size, "chunk")});
  }
}

} // namespace mscclc::ir
