// Residual addition and RMS normalisation, row by row.
#pragma once

#include "mscclc/hooks.cuh"

namespace mscclc::hooks {

/// A hook of rows. It reads "residual", "gamma" and "epsilon", and writes "residual". For a row x of n elements:
///
///   h = x + residual, rounded to T; it replaces the residual
///   x = (h · (1 / √(Σh² / n + epsilon))) · gamma, rounded to T
///
/// `residual` has as many rows as the output, `gamma` is one row for all of them, and `epsilon` is one number. Every
/// operation is in f32, and rounded to the nearest. TotalOfSquares computes the sum.
struct AddRmsNorm {
  template <class T, class Row>
  static MSCCLC_DEVICE void apply(const Row &row, T *residual, const T *gamma, const float *epsilon) {
    using namespace device;
    T *const kept = row.of(residual);
    const float squares = row.template combine<TotalOfSquares>([&](const Octet &octet) {
      Values sum = row.load(octet);
      const Values before = row.load(kept, octet);
      MSCCLC_UNROLL
      for (unsigned i = 0; i < octetSize; ++i)
        sum.at[i] = add(sum.at[i], before.at[i]);
      return row.store(kept, octet, sum);
    });
    const float mean = divide(squares, static_cast<float>(row.size()));
    const float inverse = divide(1, squareRoot(add(mean, detail::loadAs<float>(epsilon))));
    row.forEach([&](const Octet &octet) {
      Values scaled = row.load(kept, octet);
      const Values weights = row.load(gamma, octet);
      MSCCLC_UNROLL
      for (unsigned i = 0; i < octetSize; ++i)
        scaled.at[i] = multiply(multiply(scaled.at[i], inverse), weights.at[i]);
      row.store(octet, scaled);
    });
  }
};

} // namespace mscclc::hooks
