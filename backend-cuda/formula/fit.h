// Finds the coefficients with which a sum of given terms is the sought number.
#pragma once

#include "backend-cuda/formula/sample.h"
#include "backend-cuda/formula/terms.h"

#include <optional>

namespace mscclc::cuda {

/// A sum of `terms` that is `value` at every sample; none if there is no such sum with whole coefficients.
std::optional<LinearSum> fitSum(const SampleSpace &space, const ValueOf &value, const Terms &terms);

/// A sum of `terms` that is `value` modulo `n` at every sample, where `value` is in [0, n); none if the usual way to
/// find its coefficients does not find it. terms[0] is ConstantTerm.
std::optional<LinearSum> fitModulo(const SampleSpace &space, const ValueOf &value, const Terms &terms, int n);

} // namespace mscclc::cuda
