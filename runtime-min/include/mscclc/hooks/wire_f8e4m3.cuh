// The wire format f8e4m3 (Wire::F8E4m3 of the language).
#pragma once

#include "mscclc/hooks/quantize_f8e4m3.cuh"
#include "mscclc/wire.cuh"

namespace mscclc::hooks {

/// Blocks of `Elements` elements of the message: QuantizeF8E4m3 of them, and behind these bytes the scale. The rest of
/// the block's room in the message stays empty.
template <unsigned Elements> struct WireF8E4m3 {
  static constexpr unsigned elements = Elements;
  static constexpr bool isScaled = true;
  template <class T> static constexpr bool isFor = std::is_same_v<typename device::detail::Number<T>::Sum, float>;

  static MSCCLC_DEVICE float scaleOf(float largest) { return QuantizeF8E4m3::scaleOf(largest); }
  static MSCCLC_DEVICE void storeScale(char *block, float scale) {
    device::detail::storeAs<float>(block + elements, scale);
  }

  /// Returns values [first, first + 8) of a block.
  static MSCCLC_DEVICE device::Values load(const char *block, unsigned first) {
    const float scale = device::detail::loadAs<float>(block + elements);
    device::Values values = device::detail::loadValues(octetOf(block, first), device::octetSize);
    MSCCLC_UNROLL
    for (unsigned i = 0; i < device::octetSize; ++i)
      values.at[i] = device::multiply(values.at[i], scale);
    return values;
  }
  static MSCCLC_DEVICE void store(char *block, unsigned first, const device::Values &values, float scale) {
    device::detail::storeValues(const_cast<device::Float8E4m3 *>(octetOf(block, first)), device::octetSize,
                                QuantizeF8E4m3::quotients(values, scale));
  }
  /// Copies these values as they are; the first ones, with the scale.
  static MSCCLC_DEVICE void move(char *to, const char *from, unsigned first) {
    using namespace device::detail;
    storeAs<Vec8>(to + first, loadAs<Vec8>(from + first));
    if (first == 0)
      storeScale(to, loadAs<float>(from + elements));
  }

private:
  static MSCCLC_DEVICE const device::Float8E4m3 *octetOf(const char *block, unsigned first) {
    return reinterpret_cast<const device::Float8E4m3 *>(block) + first;
  }
};

} // namespace mscclc::hooks
