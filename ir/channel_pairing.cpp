#include "ir/channel_pairing.h"

#include <algorithm>
#include <span>

namespace mscclc::ir {

namespace {

/// A channel of a rank, and the rank at its other end.
struct Leading {
  std::uint32_t to, channel;
  friend auto operator<=>(const Leading &, const Leading &) = default;
};

} // namespace

ChannelPairing::ChannelPairing(const Program &program) : program_(program) {
  // Channels that carry a switch's signals are paired with one another only.
  const auto build = [&](ChannelType type, PerType &result, bool ofSwitch = false) {
    // The channels of rank r begin at first[r]. They are sorted by the rank at the other end, then by construction.
    std::vector<Leading> ends;
    std::vector<std::size_t> first;
    for (const auto &rank : program.ranks) {
      const auto &peers = rank.peers(type);
      first.push_back(ends.size());
      const auto own =
          static_cast<std::uint32_t>(peers.size()) - (type == ChannelType::Memory ? rank.switchSignals : 0);
      for (std::uint32_t c = ofSwitch ? own : 0; c < (ofSwitch ? peers.size() : own); ++c)
        ends.push_back({peers[c], c});
      std::sort(ends.begin() + static_cast<std::ptrdiff_t>(first.back()), ends.end());
      if (!ofSwitch)
        result.peerChannel.emplace_back(peers.size(), unpaired);
    }
    first.push_back(ends.size());

    for (std::uint32_t r = 0; r < program.ranks.size(); ++r)
      for (std::size_t i = first[r]; i < first[r + 1];) {
        const std::uint32_t to = ends[i].to;
        std::span<const Leading> back;
        if (to < program.ranks.size())
          back = std::span(ends).subspan(first[to], first[to + 1] - first[to]);
        auto other = std::lower_bound(back.begin(), back.end(), Leading{r, 0});
        for (; i < first[r + 1] && ends[i].to == to; ++i)
          if (other != back.end() && other->to == r)
            result.peerChannel[r][ends[i].channel] = (other++)->channel;
      }
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
