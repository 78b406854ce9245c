#include "passes/schedule/placement.h"

#include "passes/schedule/statement_graph.h"

#include <algorithm>

namespace mscclc::passes::schedule {
namespace {

using ir::Move;
using ir::MoveKind;
using ir::RankChunk;

bool isMulticast(const ir::Movement &movement, const Move &statement) {
  const bool reduces = statement.kind == MoveKind::Reduce;
  const auto group = reduces ? movement.srcs(statement) : movement.dsts(statement);
  const auto own = reduces ? movement.dsts(statement) : movement.srcs(statement);
  const auto isNear = [&](const RankChunk &place) { return movement.sameNode(place.rank, group[0].rank); };
  return own.size() == 1 && own[0].rank == *statement.by && group.size() > 1 && isOnePlaceOfAll(group, own[0]) &&
         std::ranges::all_of(group, isNear) && !statement.packets.value_or(false);
}

bool isPlaced(const ir::Movement &movement, const Move &statement) {
  if (!statement.by)
    return false;
  if (statement.via == ir::Via::Switch)
    return isMulticast(movement, statement);
  const std::uint32_t by = *statement.by;
  const auto srcs = movement.srcs(statement), dsts = movement.dsts(statement);
  const auto isHere = [&](const RankChunk &place) { return place.rank == by; };
  const auto isNear = [&](const RankChunk &place) { return place.rank != by && movement.sameNode(place.rank, by); };
  const bool portPackets = statement.via == ir::Via::Port && statement.packets.value_or(false);
  const bool keepsPackets = statement.kind == MoveKind::Reduce && statement.packets.value_or(false) && dsts.size() == 2;
  if (dsts.size() != (portPackets || keepsPackets || relaysPackets(movement, statement) ? 2 : 1))
    return false;
  for (std::uint32_t i = 0; i < statement.numSrcs + statement.numDsts; ++i)
    if (isPacketPlace(movement, statement, i) &&
        movement.places[statement.firstPlace + i].buffer != ir::BufferKind::Scratch)
      return false;
  if (!statement.via)
    return std::ranges::all_of(dsts, isHere) && std::ranges::all_of(srcs, isHere);
  if (statement.via == ir::Via::Port)
    return statement.kind == MoveKind::Copy && isHere(srcs[0]) && !isHere(dsts.back()) &&
           (!portPackets || isHere(dsts[0]));
  if (statement.kind == MoveKind::Copy)
    return (isHere(srcs[0]) && (isNear(dsts.back()) || (statement.packets.value_or(false) && isHere(dsts[0])))) ||
           (isHere(dsts[0]) && isNear(srcs[0]) && !statement.packets.value_or(false));
  return isHere(dsts[0]) && isHere(srcs[0]) && std::ranges::all_of(srcs.subspan(1), isNear) &&
         !statement.packets.value_or(false);
}

} // namespace

bool isSameMemory(const ir::Program &program, const RankChunk &a, const RankChunk &b) {
  const auto memoryOf = [&](const RankChunk &place) {
    return ir::memoryOf(program, place.rank, place.buffer, place.index, place.size, ir::DataForm::Plain);
  };
  return a.rank == b.rank && memoryOf(a) == memoryOf(b);
}

bool canReadAll(const ir::Movement &movement, std::span<const RankChunk> srcs, std::uint32_t by) {
  return std::ranges::count(srcs, by, &RankChunk::rank) <= 1 &&
         std::ranges::all_of(srcs, [&](const RankChunk &src) { return movement.sameNode(src.rank, by); });
}

bool isReadThere(const ir::Movement &movement, const Move &statement, std::uint32_t from, std::uint32_t to,
                 bool readsAll) {
  const bool reduces = statement.kind == MoveKind::Reduce, reads = reduces && movement.pull;
  return (!reduces || mayRead(movement, statement, readsAll)) && movement.sameNode(from, to) &&
         wayOf(movement, statement, from, to) == ir::Via::Memory && statement.by.value_or(reads ? to : from) == to;
}

bool isOnePlaceOfAll(std::span<const RankChunk> group, const RankChunk &own) {
  std::vector<std::uint32_t> ranks;
  for (const RankChunk &place : group) {
    if (place.buffer != group[0].buffer || place.index != group[0].index)
      return false;
    ranks.push_back(place.rank);
  }
  std::ranges::sort(ranks);
  return std::ranges::adjacent_find(ranks) == ranks.end() && std::ranges::binary_search(ranks, own.rank);
}

bool isPlaced(const ir::Program &program) {
  const ir::Movement &movement = program.movement;
  return std::ranges::all_of(movement.statements, [&](const Move &s) { return isPlaced(movement, s); });
}

bool isCut(const ir::Program &program) {
  const std::vector<Move> &statements = program.movement.statements;
  return isPlaced(program) &&
         std::ranges::all_of(statements, [&](const Move &s) { return s.block && *s.block < statements.size(); });
}

} // namespace mscclc::passes::schedule
