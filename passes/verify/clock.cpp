#include "passes/verify/clock.h"

#include <cstring>

namespace mscclc::passes::proof {

ClockPool::ClockPool(std::uint32_t agents, std::uint64_t maxValue)
    : width_(maxValue < 256     ? 1
             : maxValue < 65536 ? 2
                                : 4),
      bytes_((std::size_t{agents} * width_ + 63) / 64 * 64) {
  data_.push_back(std::make_unique<std::byte[]>(bytes_));
  refs_.push_back(1);
}

void ClockPool::makeOwn(ClockId &id) {
  if (refs_[id] == 1 && id != zero)
    return;
  ClockId copy;
  if (!free_.empty()) {
    copy = free_.back();
    free_.pop_back();
  } else {
    copy = static_cast<ClockId>(data_.size());
    data_.push_back(std::make_unique_for_overwrite<std::byte[]>(bytes_));
    refs_.push_back(0);
  }
  refs_[copy] = 1;
  std::memcpy(data_[copy].get(), data_[id].get(), bytes_);
  release(id);
  id = copy;
}

namespace {
/// Blocks of fixed length, so that compilers use vector maxima without being asked to.
template <typename T> void maximum(std::byte *into, const std::byte *from, std::size_t bytes) {
  constexpr std::size_t lanes = 64 / sizeof(T);
  auto *a = reinterpret_cast<T *>(into);
  const auto *b = reinterpret_cast<const T *>(from);
  for (std::size_t n = bytes / 64; n != 0; --n, a += lanes, b += lanes)
    for (std::size_t i = 0; i < lanes; ++i)
      a[i] = a[i] < b[i] ? b[i] : a[i];
}
} // namespace

void ClockPool::join(ClockId &id, ClockId other) {
  if (other == zero || other == id)
    return;
  if (id == zero) {
    release(id);
    id = share(other);
    return;
  }
  ++joins_;
  makeOwn(id);
  std::byte *into = data_[id].get();
  const std::byte *from = data_[other].get();
  switch (width_) {
  case 1:
    return maximum<std::uint8_t>(into, from, bytes_);
  case 2:
    return maximum<std::uint16_t>(into, from, bytes_);
  default:
    return maximum<std::uint32_t>(into, from, bytes_);
  }
}

void ClockPool::raise(ClockId &id, std::uint32_t agent, std::uint32_t value) {
  if (get(id, agent) >= value)
    return;
  makeOwn(id);
  std::byte *p = data_[id].get();
  switch (width_) {
  case 1:
    reinterpret_cast<std::uint8_t *>(p)[agent] = static_cast<std::uint8_t>(value);
    break;
  case 2:
    reinterpret_cast<std::uint16_t *>(p)[agent] = static_cast<std::uint16_t>(value);
    break;
  default:
    reinterpret_cast<std::uint32_t *>(p)[agent] = value;
  }
}

} // namespace mscclc::passes::proof
