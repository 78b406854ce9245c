// Sums of terms, and how to find their coefficients.
#pragma once

#include "ir/formula/space.h"

#include <functional>

namespace mscclc::formula {

struct Term {
  std::int64_t factor = 1;
  Expr what;
  int depth = 0; ///< number of the innermost loop whose variable is in it; 0: no loop
};

struct Sum {
  std::vector<Term> terms;
  std::int64_t constant = 0;

  /// Adds a term. If there is a term with the same text, their factors are added.
  void add(Term term);
  void add(const Sum &other);
  /// Returns the sum in the style of kernels, `4 * rank - j + 2`: factors first, and terms in their order.
  Expr spelledInOrder() const;
  /// Returns the sum in the style of sources, `rank * 4 + 2 - j`: factors last, and positive terms first.
  Expr spelledPositiveFirst() const;
};

/// A sum of features: coefficients[0] is the constant, and coefficients[i + 1] belongs to features[i].
using Coefficients = std::vector<std::int64_t>;

/// Returns the sum at a point. Coefficients may be integers or fractions.
template <class Number>
Number sumAt(const Features &features, const std::vector<Number> &coefficients, std::size_t point) {
  Number sum = coefficients[0];
  for (std::size_t i = 0; i < features.size(); ++i)
    if (coefficients[i + 1] != 0)
      sum += coefficients[i + 1] * static_cast<Number>(features[i].at(point));
  return sum;
}

/// Returns the sum of `features` with these coefficients, without terms whose coefficient is 0.
Sum sumOf(const Features &features, const Coefficients &coefficients);

/// Returns integer coefficients with which the sum is `values` at every point; nothing if there are none.
std::optional<Coefficients> fitSum(const Features &features, Values values);

/// The numbers (value - base) / scale; anyValue stays as it is.
struct Scaled {
  Values values;
  std::int64_t base = 0, scale = 1;

  std::int64_t operator[](std::size_t point) const {
    return values[point] == anyValue ? anyValue : (values[point] - base) / scale;
  }
};

/// Finds sums of fixed features modulo some number, for several lists of values.
class ModuloFitter {
public:
  /// Reads slopes between the two points of `neighbours`, one pair for each feature. A feature without a pair has slope
  /// 0.
  ModuloFitter(Features features, std::vector<std::optional<Neighbours>> neighbours);
  /// Finds neighbours of the first point at which `asked` is not anyValue. All values that are fitted later must be
  /// anyValue at the same points.
  ModuloFitter(Features features, Values asked);

  /// Returns coefficients with which the sum is `values` modulo `n` at every point. Each coefficient is the one nearest
  /// to 0. `values` are in [0, n). Returns nothing if the slopes between the neighbours do not fit.
  std::optional<Coefficients> fit(const Scaled &values, std::int64_t n);
  const Features &features() const { return features_; }

private:
  bool isRight(const Coefficients &sum, const Scaled &values, std::int64_t n, std::size_t point) const;

  Features features_;
  std::vector<std::optional<Neighbours>> neighbours_; ///< by feature
  std::optional<std::size_t> first_ = 0;              ///< the point that gives the constant
  std::size_t suspect_ = 0; ///< the point at which the last fit failed; the next wrong sum mostly fails there, too
};

} // namespace mscclc::formula
