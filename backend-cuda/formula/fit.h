// Finds the coefficients with which a sum of given terms is the sought number.
#pragma once

#include "backend-cuda/formula/sample.h"
#include "backend-cuda/formula/terms.h"

#include <optional>
#include <vector>

namespace mscclc::cuda {

/// A sum of `terms` that is `value` at every sample; none if there is no such sum with whole coefficients.
std::optional<LinearSum> fitSum(const SampleSpace &space, const ValueOf &value, const Terms &terms);

/// Finds sums modulo some number, of the same terms, for several values at the same samples.
class ModuloFitter {
public:
  /// Of `asked` it only matters where it is anyValue: there, so are the values that are fitted later. `space` must
  /// outlive the fitter. terms[0] is ConstantTerm.
  ModuloFitter(const SampleSpace &space, const ValueOf &asked, Terms terms);

  /// A sum that is `value` modulo `n` at every sample, where `value` is in [0, n); none if the usual way to find its
  /// coefficients does not find it.
  std::optional<LinearSum> fit(const ValueOf &value, int n);

private:
  bool isRight(const LinearSum &sum, const ValueOf &value, int n);

  const SampleSpace &space_;
  Terms terms_;
  std::optional<Sample> first_; ///< the first that is asked for
  /// [term]: the first sample that differs from first_ in that term alone, by one
  std::vector<std::optional<Sample>> neighbours_;
  std::optional<Sample> suspect_; ///< where a sum was wrong; the next one mostly is, too
};

} // namespace mscclc::cuda
