// Vector clocks of all blocks, shared while equal.
//
// Entry a of a clock says how many phases of block a are known to be over. A program has few phases a block, so entries
// are as narrow as they can be: a join of 1024 blocks is then 1 KiB of byte maxima, which is why clocks are kept in
// full for every sender and no order query ever has to search.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace mscclc::passes::proof {

using ClockId = std::uint32_t;

class ClockPool {
public:
  /// Clocks of `agents` entries, each able to hold `maxValue`.
  ClockPool(std::uint32_t agents, std::uint64_t maxValue);

  /// The clock that knows nothing. Never freed.
  static constexpr ClockId zero = 0;

  ClockId share(ClockId id) {
    ++refs_[id];
    return id;
  }
  void release(ClockId id) {
    if (id != zero && --refs_[id] == 0)
      free_.push_back(id);
  }
  std::uint32_t get(ClockId id, std::uint32_t agent) const {
    const std::byte *p = data_[id].get();
    switch (width_) {
    case 1:
      return reinterpret_cast<const std::uint8_t *>(p)[agent];
    case 2:
      return reinterpret_cast<const std::uint16_t *>(p)[agent];
    default:
      return reinterpret_cast<const std::uint32_t *>(p)[agent];
    }
  }
  /// `id` becomes the entrywise maximum of itself and `other`; made its caller's own first where it is shared.
  void join(ClockId &id, ClockId other);
  /// Entry `agent` of `id` becomes at least `value`.
  void raise(ClockId &id, std::uint32_t agent, std::uint32_t value);

  std::uint64_t joins() const { return joins_; }

private:
  void makeOwn(ClockId &id);

  std::uint32_t width_;
  std::size_t bytes_; ///< of a clock, a multiple of 64
  std::vector<std::unique_ptr<std::byte[]>> data_;
  std::vector<std::uint32_t> refs_;
  std::vector<ClockId> free_;
  std::uint64_t joins_ = 0;
};

} // namespace mscclc::passes::proof
