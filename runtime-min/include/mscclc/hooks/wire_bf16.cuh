// The wire format bf16 (Wire::Bf16 of the language).
#pragma once

#include "mscclc/wire.cuh"

namespace mscclc::hooks {

/// The format of a block of `Elements` elements of the message: each element is rounded to the nearest bf16. The second
/// half of the block's room stays empty.
template <unsigned Elements> struct WireBf16 {
  using Kept = device::Bfloat16; ///< the type to which quotients are rounded
  static constexpr unsigned elements = Elements;
  static constexpr bool isScaled = false;
  template <class T> static constexpr bool isFor = std::is_same_v<T, float>;

  static MSCCLC_DEVICE device::Values quotients(const device::Values &values, float) { return values; }
  static MSCCLC_DEVICE device::Values products(const device::Values &values, float) { return values; }
};

} // namespace mscclc::hooks
