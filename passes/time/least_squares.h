// Small dense systems of equations, for a fit of a few parameters.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace mscclc::passes::time {

/// A square matrix, symmetric in all uses here.
class Matrix {
public:
  explicit Matrix(std::size_t size) : size_(size), values_(size * size) {}
  std::size_t size() const { return size_; }
  double &at(std::size_t row, std::size_t column) { return values_[row * size_ + column]; }
  double at(std::size_t row, std::size_t column) const { return values_[row * size_ + column]; }

private:
  std::size_t size_;
  std::vector<double> values_;
};

/// Solves A x = b by Cholesky's decomposition. Returns nothing if A is not positive definite.
std::optional<std::vector<double>> solve(const Matrix &a, std::vector<double> b);

/// Returns the diagonal of A's inverse; nothing if A is not positive definite.
std::optional<std::vector<double>> inverseDiagonal(const Matrix &a);

} // namespace mscclc::passes::time
