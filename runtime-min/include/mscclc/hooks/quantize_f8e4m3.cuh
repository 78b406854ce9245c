// Quantisation to f8e4m3.
#pragma once

#include "mscclc/hooks.cuh"

namespace mscclc::hooks {

/// A hook of rows or blocks. It writes the elements of the output to "quantized", as f8e4m3, and one f32 for each row
/// or block to "scales". The output is unchanged. For a row or block x:
///
///   scale = max|x| / 448, or 1 if that is 0
///   quantized = x / scale, rounded to the nearest
///
/// If an element of x is NaN, the scale and all elements of the row or block become NaN.
struct QuantizeF8E4m3 {
  template <class T, class Part>
  static MSCCLC_DEVICE void apply(const Part &part, device::Float8E4m3 *quantized, float *scales) {
    using namespace device;
    const float scale = scaleOf(part.template combine<Amax>([&](const Octet &octet) { return part.load(octet); }));
    if (part.leads())
      detail::storeAs<float>(scales + part.index(), scale);
    divideBy(part, scale, quantized);
  }

  static MSCCLC_DEVICE float scaleOf(float largest) {
    constexpr float largestF8E4m3 = 448;
    const float scale = device::divide(largest, largestF8E4m3);
    return scale == 0 ? 1 : scale;
  }
  template <class Part>
  static MSCCLC_DEVICE void divideBy(const Part &part, float scale, device::Float8E4m3 *quantized) {
    using namespace device;
    part.forEach(
        [&](const Octet &octet) { part.store(part.of(quantized), octet, quotients(part.load(octet), scale)); });
  }
  static MSCCLC_DEVICE device::Values quotients(device::Values values, float scale) {
    MSCCLC_UNROLL
    for (unsigned i = 0; i < device::octetSize; ++i)
      values.at[i] = device::divide(values.at[i], scale);
    return values;
  }
};

/// A hook of rows or blocks that quantises with one scale for all. It reads "scale", an f32, and writes "quantized".
/// Quotients beyond ±448 become ±448.
struct QuantizeF8E4m3ByScale {
  template <class T, class Part>
  static MSCCLC_DEVICE void apply(const Part &part, const float *scale, device::Float8E4m3 *quantized) {
    QuantizeF8E4m3::divideBy(part, device::detail::loadAs<float>(scale), quantized);
  }
};

} // namespace mscclc::hooks
