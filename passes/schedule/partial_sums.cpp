#include "passes/schedule/partial_sums.h"

namespace mscclc::passes::schedule {

using proof::ValueId;

ValueId StatementValues::resultOf(const ir::Move &move, const ChunkMemory &memory, std::uint32_t i) {
  const ir::Movement &movement = program_.movement;
  memory.partsOf(movement, move, i, parts_);
  if (move.kind != ir::MoveKind::Apply)
    return values_.chain(move.reduceOp, parts_);
  const ir::RankChunk &place = movement.dsts(move)[0];
  const std::size_t unit = memory.firstOf(place) - memory.firstOf(place.rank, ir::BufferKind::Output) + i;
  return values_.apply(proof::applicationOf(program_, move.hook, place.rank, unit), parts_[0]);
}

std::unordered_set<ValueId>
StatementValues::partialSums(const std::function<void(std::uint32_t, std::uint32_t)> &found) {
  std::unordered_set<ValueId> partial;
  std::unordered_map<ValueId, std::uint32_t> makers;
  eachStatement([&](std::uint32_t s, const ChunkMemory &memory) {
    const ir::Move &move = program_.movement.statements[s];
    if (move.kind != ir::MoveKind::Reduce || ir::isReorderable(move.reduceOp))
      return;
    for (std::uint32_t i = 0; i < program_.movement.places[move.firstPlace].size; ++i) {
      makers.try_emplace(resultOf(move, memory, i), s);
      for (const ValueId part : parts_)
        if (const auto maker = makers.find(values_.decoded(part)); maker != makers.end() && partial.insert(part).second)
          found(maker->second, s);
    }
  });
  return partial;
}

} // namespace mscclc::passes::schedule
