// The wire format f8e4m3 (Wire::F8E4m3 of the language).
#pragma once

#include "mscclc/hooks/quantize_f8e4m3.cuh"
#include "mscclc/wire.cuh"

namespace mscclc::hooks {

/// The format of a block of `Elements` elements of the message: their result of QuantizeF8E4m3, and then the scale. The
/// rest of the block's room stays empty.
template <unsigned Elements> struct WireF8E4m3 {
  using Kept = device::Float8E4m3; ///< the type to which quotients are rounded
  static constexpr unsigned elements = Elements;
  static constexpr bool isScaled = true;
  template <class T> static constexpr bool isFor = std::is_same_v<typename device::detail::Number<T>::Sum, float>;

  static MSCCLC_DEVICE float scaleOf(float largest) { return QuantizeF8E4m3::scaleOf(largest); }
  static MSCCLC_DEVICE device::Values quotients(const device::Values &values, float scale) {
    return QuantizeF8E4m3::quotients(values, scale);
  }
  static MSCCLC_DEVICE device::Values products(device::Values values, float scale) {
    MSCCLC_UNROLL
    for (unsigned i = 0; i < device::octetSize; ++i)
      values.at[i] = device::multiply(values.at[i], scale);
    return values;
  }
};

} // namespace mscclc::hooks
