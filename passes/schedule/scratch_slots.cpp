#include "passes/schedule/scratch_slots.h"

#include "passes/schedule/rank_distances.h"
#include "passes/schedule/statement_graph.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

namespace mscclc::passes::schedule {
namespace {

/// When a slot is written, from how far off, with which share; and its number until then.
using Key = std::array<std::uint32_t, 4>;

} // namespace

void orderSlots(ir::Program &program, std::span<const std::uint32_t> first, std::uint32_t size) {
  ir::Movement &movement = program.movement;
  std::vector<std::vector<Key>> keys(program.ranks.size());
  for (std::uint32_t r = 0; r < program.ranks.size(); ++r)
    for (std::uint32_t at = first[r]; at < program.ranks[r].scratchChunks; at += size)
      keys[r].push_back({~std::uint32_t{0}, 0, 0, static_cast<std::uint32_t>(keys[r].size())});
  if (std::ranges::none_of(keys, [](const auto &ofRank) { return ofRank.size() > 1; }))
    return;
  const auto slotOf = [&](const ir::RankChunk &place) -> std::optional<std::uint32_t> {
    if (place.buffer != ir::BufferKind::Scratch || place.index < first[place.rank])
      return std::nullopt;
    return (place.index - first[place.rank]) / size;
  };

  const std::vector<std::uint32_t> levels = levelsOf(StatementGraph(program));
  const StatementDistances distances(program);
  for (std::uint32_t s = 0; s < movement.statements.size(); ++s) {
    const ir::Move &statement = movement.statements[s];
    for (const ir::RankChunk &dst : movement.dsts(statement))
      if (const auto slot = slotOf(dst)) {
        Key &key = keys[dst.rank][*slot];
        key =
            std::min(key, {levels[s], distances.between(dst.rank, *statement.by), distances.ofShare(statement), *slot});
      }
  }
  std::vector<std::vector<std::uint32_t>> numbers(keys.size()); // [rank][slot]
  for (std::size_t r = 0; r < keys.size(); ++r) {
    std::ranges::sort(keys[r]);
    numbers[r].resize(keys[r].size());
    for (std::uint32_t i = 0; i < keys[r].size(); ++i)
      numbers[r][keys[r][i].back()] = i;
  }
  for (ir::RankChunk &place : movement.places)
    if (const auto slot = slotOf(place))
      place.index = first[place.rank] + numbers[place.rank][*slot] * size;
}

} // namespace mscclc::passes::schedule
