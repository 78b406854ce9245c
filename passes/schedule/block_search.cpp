#include "passes/schedule/block_search.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace mscclc::passes::schedule {

Excess excessOf(std::span<const ir::Rank> ranks, const ExecutorLimits &limits, std::uint32_t instances) {
  const auto times = [](std::uint64_t have, std::uint32_t most) {
    return static_cast<double>(have) / static_cast<double>(most);
  };
  Excess excess;
  for (const ir::Rank &rank : ranks) {
    excess.blocks = std::max(excess.blocks, rank.busyBlocks() / instances);
    for (const ir::ThreadBlock &block : rank.blocks) {
      excess.times = std::max(excess.times, times(block.ops.size(), limits.opsPerBlock));
      for (const ir::ChannelType type : {ir::ChannelType::Memory, ir::ChannelType::Port}) {
        const auto channels = std::ranges::count(block.channels, type, &ir::ResourceUse::type);
        excess.times = std::max(excess.times, times(static_cast<std::uint64_t>(channels), limits.channelsPerBlock));
      }
    }
  }
  return excess;
}

/// At least twice as many as were asked for.
std::uint64_t BlockSearch::enoughBlocks(Ask ask, Excess excess) const {
  const std::uint64_t twice = std::bit_ceil(2 * std::uint64_t{ask.blocks});
  if (excess.blocks == 0 || excess.times <= 1)
    return twice;
  double fixed = 0; // of `times`, what does not get smaller
  const auto blocks = static_cast<double>(excess.blocks), before = static_cast<double>(last_.blocks);
  if (last_.blocks != 0 && last_.blocks < excess.blocks && last_.times > excess.times)
    fixed = std::max(0.0, (excess.times * blocks - last_.times * before) / (blocks - before));
  if (fixed >= 1)
    return std::max<std::uint64_t>(twice, most_);
  const double enough = (excess.times - fixed) * blocks / (1 - fixed);
  return std::max(twice, std::bit_ceil(static_cast<std::uint64_t>(std::ceil(std::min<double>(enough, most_)))));
}

void BlockSearch::refuse(Ask ask, Excess excess) {
  Ask next = ask;
  if (anyBlocks_) {
    const std::uint64_t enough = enoughBlocks(ask, excess);
    while (anyInstances_ && next.instances > 1 && enough * next.instances > most_)
      next.instances /= 2;
    const std::uint64_t room = std::bit_floor(most_ / next.instances);
    next.blocks = std::max(ask.blocks, static_cast<std::uint32_t>(std::min(enough, room)));
  }
  if (excess.blocks != 0)
    last_ = excess;
  if (next == ask && anyInstances_)
    next.instances /= 2;
  next_ = next == ask || next.instances == 0 ? std::nullopt : std::optional(next);
}

} // namespace mscclc::passes::schedule
