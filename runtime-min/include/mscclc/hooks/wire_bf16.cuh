// The wire format bf16 (Wire::Bf16 of the language).
#pragma once

#include "mscclc/wire.cuh"

namespace mscclc::hooks {

/// Blocks of `Elements` elements of the message, rounded to the nearest bf16. The second half of the block's room in
/// the message stays empty.
template <unsigned Elements> struct WireBf16 {
  static constexpr unsigned elements = Elements;
  static constexpr bool isScaled = false;
  template <class T> static constexpr bool isFor = std::is_same_v<T, float>;

  /// Returns values [first, first + 8) of a block.
  static MSCCLC_DEVICE device::Values load(const char *block, unsigned first) {
    return device::detail::loadValues(reinterpret_cast<const device::Bfloat16 *>(block) + first, device::octetSize);
  }
  static MSCCLC_DEVICE void store(char *block, unsigned first, const device::Values &values, float) {
    device::detail::storeValues(reinterpret_cast<device::Bfloat16 *>(block) + first, device::octetSize, values);
  }
  /// Copies these values as they are.
  static MSCCLC_DEVICE void move(char *to, const char *from, unsigned first) {
    using namespace device::detail;
    storeAs<Vec16>(to + first * sizeof(device::Bfloat16), loadAs<Vec16>(from + first * sizeof(device::Bfloat16)));
  }
};

} // namespace mscclc::hooks
