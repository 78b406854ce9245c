#include "ir/channel_pairing.h"

#include <algorithm>
#include <map>
#include <utility>

namespace mscclc::ir {

ChannelPairing::ChannelPairing(const Program &program) : program_(program) {
  // Channels that carry a switch's signals are paired with one another only.
  const auto build = [&](ChannelType type, PerType &result, bool ofSwitch = false) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> channels; // keys: ranks at both ends
    for (std::uint32_t r = 0; r < program.ranks.size(); ++r) {
      const Rank &rank = program.ranks[r];
      const auto &peers = rank.peers(type);
      const auto own =
          static_cast<std::uint32_t>(peers.size()) - (type == ChannelType::Memory ? rank.switchSignals : 0);
      for (std::uint32_t c = ofSwitch ? own : 0; c < (ofSwitch ? peers.size() : own); ++c)
        channels[{r, peers[c]}].push_back(c);
      if (!ofSwitch)
        result.peerChannel.emplace_back(peers.size(), unpaired);
    }
    for (const auto &[ranks, own] : channels)
      if (const auto back = channels.find({ranks.second, ranks.first}); back != channels.end())
        for (std::size_t i = 0; i < std::min(own.size(), back->second.size()); ++i)
          result.peerChannel[ranks.first][own[i]] = back->second[i];
  };
  build(ChannelType::Memory, memory_);
  build(ChannelType::Memory, memory_, true);
  build(ChannelType::Port, port_);
}

std::optional<ChannelEnd> ChannelPairing::peer(ChannelType type, ChannelEnd end) const {
  const PerType &table = type == ChannelType::Port ? port_ : memory_;
  const std::uint32_t other = table.peerChannel[end.rank][end.channel];
  if (other == unpaired)
    return std::nullopt;
  return ChannelEnd{program_.ranks[end.rank].peers(type)[end.channel], other};
}

} // namespace mscclc::ir
