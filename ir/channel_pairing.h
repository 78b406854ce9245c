// Pairs the ends of channels: the k-th channel a→b of a type meets the k-th channel b→a of that type.
#pragma once

#include "ir/program.h"

#include <optional>

namespace mscclc::ir {

/// A channel end: channel `channel` (index among the rank's channels of that type) of rank `rank`.
struct ChannelEnd {
  std::uint32_t rank = 0;
  std::uint32_t channel = 0;
  friend auto operator<=>(const ChannelEnd &, const ChannelEnd &) = default;
};

/// The pairing of all point-to-point channels of a program, as the executor wires them at set-up.
class ChannelPairing {
public:
  explicit ChannelPairing(const Program &program);

  /// Returns the other end of the channel of `end`; nothing if the peer has too few channels to this rank.
  std::optional<ChannelEnd> peer(ChannelType type, ChannelEnd end) const;

private:
  static constexpr std::uint32_t unpaired = ~std::uint32_t{0};
  struct PerType {
    std::vector<std::vector<std::uint32_t>> peerChannel; // [rank][channel]: channel of the peer, or `unpaired`
  };
  const Program &program_;
  PerType memory_, port_;
};

} // namespace mscclc::ir
