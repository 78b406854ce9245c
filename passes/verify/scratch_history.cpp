#include "passes/verify/scratch_history.h"

#include <algorithm>
#include <span>

namespace mscclc::passes::proof {

bool ScratchHistory::over(const Noted &noted, const View &view) {
  if (order_.before(noted.by, noted.writes, view, noted.writes ? Relation::Visibility : Relation::HappensBefore))
    return true;
  return !noted.takers.empty() && std::ranges::all_of(noted.takers, [&](const Epoch &taker) {
    return order_.before(taker, false, view, Relation::HappensBefore);
  });
}

/// True if the rank of `view` has known since its launch began that all work of the first launch in the scratch of
/// `rank` is over. The answer is the same for all blocks of the rank, so it is computed once a launch.
bool ScratchHistory::overAtBegin(std::uint32_t rank, const View &view) {
  const std::uint32_t asks = index_.rankOf(view.block), launch = order_.launchOf(view.block, view.phase);
  AtBegin &known = atBegin_[std::uint64_t{asks} << 32 | rank];
  if (known.over || known.launch == launch)
    return known.over;
  known.launch = launch;
  known.over = std::ranges::all_of(ranks_[rank].all, [&](const Noted &noted) {
    return order_.knownAtBegin(noted.by, noted.writes, asks,
                               noted.writes ? Relation::Visibility : Relation::HappensBefore);
  });
  return known.over;
}

/// Finds one taker for each packet of an access. If some packet has no taker, the access gets none. If a port copies a
/// packet, the takers of the copy count as takers of the packet, because the packet had arrived before the copy was
/// made.
void ScratchHistory::findTakers(RankState &state, const Memory &memory) {
  std::unordered_map<std::uint32_t, std::span<const Epoch>> takersOfPut; // [agent]
  const auto find = [&](Noted &noted) {
    for (std::uint32_t i = 0; i < noted.count; ++i) {
      const Epoch &reader = memory[noted.first + i].read;
      if (!memory.packetArrived(noted.first + i))
        return noted.takers.clear();
      const auto put = takersOfPut.find(reader.agent);
      const std::span<const Epoch> takers = put != takersOfPut.end() ? put->second : std::span(&reader, 1);
      if (takers.empty() || takers[0].isPut())
        return noted.takers.clear();
      for (const Epoch &taker : takers)
        if (noted.takers.empty() || noted.takers.back().agent != taker.agent ||
            noted.takers.back().phase != taker.phase)
          noted.takers.push_back(taker);
    }
  };
  for (Noted &noted : state.all)
    if (noted.packet && noted.by.isPut() && !noted.writes) {
      find(noted);
      takersOfPut.emplace(noted.by.agent, noted.takers);
    }
  for (Noted &noted : state.all)
    if (noted.packet && noted.writes)
      find(noted);
}

void ScratchHistory::close(std::uint32_t rank, const View &end, const Memory &memory) {
  RankState &state = ranks_[rank];
  state.endPhase = order_.view(index_.block(rank, 0)).phase - 1;
  findTakers(state, memory);
  for (const Noted &noted : state.all) {
    if (index_.rankOf(order_.blockOf(noted.by)) == rank && !noted.by.isPut())
      continue;
    // Only this rank takes packets from its scratch, so it knows that these packets have arrived.
    bool arrived = noted.packet && noted.writes;
    for (std::uint32_t i = 0; arrived && i < noted.count; ++i)
      arrived = memory.packetArrived(noted.first + i);
    if (!arrived && !over(noted, end))
      state.loose.push_back(noted);
  }
}

const ScratchHistory::Access *ScratchHistory::open(std::uint32_t rank, const View &view) {
  RankState &state = ranks_[rank];
  if (state.all.empty())
    return nullptr;
  const std::uint64_t key = std::uint64_t{view.block} << 32 | rank;
  if (const auto it = free_.find(key); it != free_.end() && it->second <= view.phase)
    return nullptr;
  const bool here = index_.rankOf(view.block) == rank;
  if (!here && overAtBegin(rank, view))
    return nullptr;
  const bool ended = here || order_.known(index_.block(rank, 0), state.endPhase, view, Relation::HappensBefore);
  const auto &asked = ended ? state.loose : state.all;
  const auto found = std::find_if(asked.begin(), asked.end(), [&](const Noted &noted) { return !over(noted, view); });
  if (found != asked.end())
    return &*found;
  if (view.besides.empty())
    free_[key] = view.phase;
  return nullptr;
}

} // namespace mscclc::passes::proof
