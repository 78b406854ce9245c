// Finds a formula in one basis: a sum of directions with even slopes, and one form for the rest.
#pragma once

#include "ir/formula/forms.h"

namespace mscclc::formula {

/// Numbers of the emitted source are `int`.
inline constexpr std::int64_t largestNumber = std::numeric_limits<std::int32_t>::max();

class BasisSearch {
public:
  explicit BasisSearch(const Space &space) : space_(space) {}

  /// Subtracts the directions along which values have an even slope, and searches for one form for the rest.
  std::optional<Sum> find(const Basis &basis, Values values) const;
  /// Returns `inner % modulus`, where `inner` is never negative.
  Term remainder(Sum inner, std::int64_t modulus, int depth) const;

private:
  using Directions = std::vector<const Direction *>;

  std::optional<Sum> oneForm(const Directions &rest, Values left) const;
  std::optional<Sum> power(const Directions &rest, Values left) const;
  std::optional<Sum> modular(const Directions &rest, Values left) const;
  std::optional<Sum> exclusive(const Directions &rest, Values left) const;
  std::optional<Sum> bit(const Directions &rest, Values left) const;
  std::optional<Sum> inParts(const Basis &basis, const Directions &rest, Values left) const;

  std::optional<Direction> powerOf(const Direction &direction, bool up) const;
  std::optional<Sum> modulo(std::vector<ModuloFitter> &fitters, const Directions &rest, const Scaled &values,
                            std::int64_t modulus) const;
  bool saysSomething(std::int64_t modulus) const;

  const Space &space_;
};

} // namespace mscclc::formula
