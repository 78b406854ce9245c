#include "passes/representative_rank.h"

#include "ir/program_index.h"

namespace mscclc::passes {

OtherEnds RepresentativeRank::otherEnds() const {
  OtherEnds all;
  for (const ir::ChannelType type : {ir::ChannelType::Memory, ir::ChannelType::Port}) {
    const std::vector<std::uint32_t> &ofOne = otherEnds_[type == ir::ChannelType::Port];
    const std::size_t channels = rank().peers(type).size();
    const std::size_t instances = ofOne.empty() ? 1 : channels / ofOne.size();
    for (std::size_t id = 0; id < channels; ++id) {
      const std::uint32_t end = ofOne[id / instances];
      all[type == ir::ChannelType::Port].push_back(
          end == ir::none ? end : static_cast<std::uint32_t>(end * instances + id % instances));
    }
  }
  return all;
}

} // namespace mscclc::passes
