#include "passes/time/least_squares.h"

#include <cmath>

namespace mscclc::passes::time {

namespace {

/// Returns the lower triangle L with L Lᵀ = A.
std::optional<Matrix> cholesky(const Matrix &a) {
  Matrix lower(a.size());
  for (std::size_t row = 0; row < a.size(); ++row)
    for (std::size_t column = 0; column <= row; ++column) {
      double rest = a.at(row, column);
      for (std::size_t k = 0; k < column; ++k)
        rest -= lower.at(row, k) * lower.at(column, k);
      if (row != column)
        lower.at(row, column) = rest / lower.at(column, column);
      else if (rest > 0)
        lower.at(row, row) = std::sqrt(rest);
      else
        return std::nullopt;
    }
  return lower;
}

/// Returns x with L x = b.
std::vector<double> forward(const Matrix &lower, std::vector<double> b) {
  for (std::size_t row = 0; row < b.size(); ++row) {
    for (std::size_t k = 0; k < row; ++k)
      b[row] -= lower.at(row, k) * b[k];
    b[row] /= lower.at(row, row);
  }
  return b;
}

} // namespace

std::optional<std::vector<double>> solve(const Matrix &a, std::vector<double> b) {
  const std::optional<Matrix> lower = cholesky(a);
  if (!lower)
    return std::nullopt;
  b = forward(*lower, std::move(b));
  for (std::size_t row = b.size(); row-- > 0;) {
    for (std::size_t k = row + 1; k < b.size(); ++k)
      b[row] -= lower->at(k, row) * b[k];
    b[row] /= lower->at(row, row);
  }
  return b;
}

std::optional<std::vector<double>> inverseDiagonal(const Matrix &a) {
  const std::optional<Matrix> lower = cholesky(a);
  if (!lower)
    return std::nullopt;
  std::vector<double> diagonal;
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::vector<double> unit(a.size());
    unit[i] = 1;
    // If e is the i-th unit vector, the i-th element of A⁻¹ e is the square of the length of L⁻¹ e.
    double length = 0;
    for (const double value : forward(*lower, std::move(unit)))
      length += value * value;
    diagonal.push_back(length);
  }
  return diagonal;
}

} // namespace mscclc::passes::time
