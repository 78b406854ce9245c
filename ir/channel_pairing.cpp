#include "ir/channel_pairing.h"

#include <unordered_map>

namespace mscclc::ir {

ChannelPairing::ChannelPairing(const Program &program) : program_(program) {
  const auto build = [&](ChannelType type, PerType &result) {
    // (from, to) -> channels of `from` that lead to `to`, in order of construction.
    std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> byPair;
    const auto key = [](std::uint32_t from, std::uint32_t to) { return std::uint64_t{from} << 32 | to; };
    const auto numRanks = static_cast<std::uint32_t>(program.ranks.size());
    for (std::uint32_t r = 0; r < numRanks; ++r) {
      const auto &peers = program.ranks[r].peers(type);
      for (std::uint32_t c = 0; c < peers.size(); ++c)
        byPair[key(r, peers[c])].push_back(c);
    }
    result.peerChannel.resize(numRanks);
    for (std::uint32_t r = 0; r < numRanks; ++r)
      result.peerChannel[r].assign(program.ranks[r].peers(type).size(), unpaired);
    for (const auto &[pair, channels] : byPair) {
      const auto from = static_cast<std::uint32_t>(pair >> 32), to = static_cast<std::uint32_t>(pair);
      const auto back = byPair.find(key(to, from));
      if (back == byPair.end())
        continue;
      for (std::size_t k = 0; k < channels.size() && k < back->second.size(); ++k)
        result.peerChannel[from][channels[k]] = back->second[k];
    }
  };
  build(ChannelType::Memory, memory_);
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
