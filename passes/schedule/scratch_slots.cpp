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

void orderSlots(ir::Program &program, std::span<const std::vector<ScratchSlot>> slots) {
  ir::Movement &movement = program.movement;
  if (std::ranges::none_of(slots, [](const auto &ofRank) { return ofRank.size() > 1; }))
    return;
  std::vector<std::vector<Key>> keys(slots.size());
  for (std::size_t r = 0; r < slots.size(); ++r)
    for (std::uint32_t slot = 0; slot < slots[r].size(); ++slot)
      keys[r].push_back({~std::uint32_t{0}, 0, 0, slot});
  const auto slotOf = [&](const ir::RankChunk &place) -> std::optional<std::uint32_t> {
    const std::vector<ScratchSlot> &ofRank = slots[place.rank];
    if (place.buffer != ir::BufferKind::Scratch || ofRank.empty() || place.index < ofRank.front().index)
      return std::nullopt;
    return static_cast<std::uint32_t>(std::ranges::lower_bound(ofRank, place.index, {}, &ScratchSlot::index) -
                                      ofRank.begin());
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
  std::vector<std::vector<std::uint32_t>> indexes(keys.size()); // [rank][slot]: in scratch
  for (std::size_t r = 0; r < keys.size(); ++r) {
    std::ranges::sort(keys[r]);
    indexes[r].resize(keys[r].size());
    std::uint32_t next = slots[r].empty() ? 0 : slots[r].front().index;
    for (const Key &key : keys[r]) {
      indexes[r][key.back()] = next;
      next += slots[r][key.back()].size;
    }
  }
  for (ir::RankChunk &place : movement.places)
    if (const auto slot = slotOf(place))
      place.index = indexes[place.rank][*slot];
}

} // namespace mscclc::passes::schedule
