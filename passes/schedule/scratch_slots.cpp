#include "passes/schedule/scratch_slots.h"

#include "ir/containers.h"
#include "ir/program_index.h"
#include "passes/schedule/statement_distances.h"
#include "passes/schedule/statement_graph.h"

#include <algorithm>
#include <compare>
#include <utility>
#include <vector>

namespace mscclc::passes::schedule {
namespace {

/// Numbers the slots of all ranks, one rank after the other.
class SlotNumbers {
public:
  explicit SlotNumbers(std::span<const std::vector<ScratchSlot>> slots) {
    for (const std::vector<ScratchSlot> &ofRank : slots) {
      const std::uint32_t begin = ofRank.empty() ? 0 : ofRank.front().index;
      ranks_.push_back({begin, starts_.size()});
      for (const ScratchSlot &slot : ofRank) {
        starts_.resize(starts_.size() + slot.size, ir::none);
        starts_[starts_.size() - slot.size] = size_++;
      }
    }
    ranks_.push_back({0, starts_.size()});
  }
  std::uint32_t size() const { return size_; }
  /// Returns the slot that begins at `place`; none if `place` is before all slots, or not in scratch.
  std::uint32_t at(const ir::RankChunk &place) const {
    const OfRank &rank = ranks_[place.rank];
    const std::size_t chunks = ranks_[place.rank + 1].first - rank.first;
    return place.buffer != ir::BufferKind::Scratch || place.index < rank.begin || chunks == 0
               ? ir::none
               : starts_[rank.first + place.index - rank.begin];
  }

private:
  struct OfRank {
    std::uint32_t begin; ///< where the rank's slots begin in scratch
    std::size_t first;   ///< into starts_
  };
  std::vector<OfRank> ranks_;         ///< [rank], and the end
  std::vector<std::uint32_t> starts_; ///< [chunk of slots]: the slot that begins there
  std::uint32_t size_ = 0;
};

/// The first write of a slot. `distance`: distance from the slot's rank to the writing rank. `reach`: distance from the
/// writing rank to the first rank that it reaches; for packets that a port puts, this is the rank that receives them.
struct FirstWrite {
  std::uint32_t level = ~std::uint32_t{0}, distance = 0, share = 0, reach = 0;
  friend auto operator<=>(const FirstWrite &, const FirstWrite &) = default;
};

} // namespace

void orderSlots(ir::Program &program, std::span<const std::vector<ScratchSlot>> slots, Analyses &analyses) {
  ir::Movement &movement = program.movement;
  if (std::ranges::none_of(slots, [](const auto &ofRank) { return ofRank.size() > 1; }))
    return;
  const SlotNumbers numbers(slots);
  std::vector<FirstWrite> writes(numbers.size());
  StatementGraph graph(program);
  StatementDistances distances(program);
  for (std::uint32_t s = 0; s < movement.statements.size(); ++s) {
    const ir::Move &statement = movement.statements[s];
    for (const ir::RankChunk &dst : movement.dsts(statement))
      if (const std::uint32_t slot = numbers.at(dst); slot != ir::none)
        writes[slot] = std::min(writes[slot], {graph.levels()[s], distances.between(dst.rank, *statement.by),
                                               distances.ofShare(s), distances.ofReach(s)});
  }
  std::vector<std::uint32_t> indexes(numbers.size()); // [slot]: index in scratch
  for (std::uint32_t r = 0, slot = 0; r < slots.size(); ++r) {
    const std::vector<ScratchSlot> &ofRank = slots[r];
    const std::vector<std::uint32_t> byFirstWrite =
        ir::sortedBy(ir::numbersBelow(ofRank.size()), [&](std::uint32_t i) { return writes[slot + i]; });
    std::uint32_t next = ofRank.empty() ? 0 : ofRank.front().index;
    for (const std::uint32_t i : byFirstWrite) {
      indexes[slot + i] = next;
      next += ofRank[i].size;
    }
    slot += static_cast<std::uint32_t>(ofRank.size());
  }
  for (ir::RankChunk &place : movement.places)
    if (const std::uint32_t slot = numbers.at(place); slot != ir::none)
      place.index = indexes[slot];
  graph.moveTouches(program);
  analyses.set(std::move(graph));
  analyses.set(std::move(distances));
}

} // namespace mscclc::passes::schedule
