#include "passes/schedule/excess.h"

#include <algorithm>
#include <cmath>

namespace mscclc::passes::schedule {

std::uint64_t Excess::enoughBlocks() const {
  return static_cast<std::uint64_t>(std::ceil(times * static_cast<double>(blocks)));
}

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

} // namespace mscclc::passes::schedule
