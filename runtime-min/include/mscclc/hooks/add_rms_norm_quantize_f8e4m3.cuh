// Residual addition, RMS normalisation, and quantisation of the result, row by row.
#pragma once

#include "mscclc/hooks/add_rms_norm.cuh"
#include "mscclc/hooks/quantize_f8e4m3.cuh"

namespace mscclc::hooks {

/// A hook of rows: AddRmsNorm, and then QuantizeF8E4m3 of its rounded result, which is also stored in the output. It
/// reads "residual", "gamma" and "epsilon", and writes "residual", "quantized" and "scales".
struct AddRmsNormQuantizeF8E4m3 {
  template <class T, class Row>
  static MSCCLC_DEVICE void apply(const Row &row, T *residual, const T *gamma, const float *epsilon,
                                  device::Float8E4m3 *quantized, float *scales) {
    AddRmsNorm::apply<T>(row, residual, gamma, epsilon);
    QuantizeF8E4m3::apply<T>(row, quantized, scales);
  }
};

/// A hook of rows: AddRmsNorm, and then QuantizeF8E4m3ByScale of its rounded result. It reads "residual", "gamma",
/// "epsilon" and "scale", and writes "residual" and "quantized".
struct AddRmsNormQuantizeF8E4m3ByScale {
  template <class T, class Row>
  static MSCCLC_DEVICE void apply(const Row &row, T *residual, const T *gamma, const float *epsilon, const float *scale,
                                  device::Float8E4m3 *quantized) {
    AddRmsNorm::apply<T>(row, residual, gamma, epsilon);
    QuantizeF8E4m3ByScale::apply<T>(row, scale, quantized);
  }
};

} // namespace mscclc::hooks
