// What a formula adds up: rank, block, step and item, parts of them, and whether one has reached another.
#pragma once

#include "backend-cuda/expression.h"
#include "backend-cuda/formula/axes.h"
#include "backend-cuda/formula/sample.h"

#include <cstdint>
#include <variant>
#include <vector>

namespace mscclc::cuda {

/// 1.
struct ConstantTerm {};
/// An axis; with a divisor, what is left by it or how often it goes.
struct Part {
  Axis axis;
  int divisor = 0;
  bool quotient = false;
};
/// 1 where `counted`, of the axis counted from `from`, is at least `rank`, a part of the rank; else 0.
struct Reaches {
  Part counted;
  int from = 0;
  Part rank{Axis::Rank};
};
/// 1 from rank `rank` on; else 0.
struct FromRank {
  int rank;
};
using Term = std::variant<ConstantTerm, Part, Reaches, FromRank>;

using Terms = std::vector<Term>;
using Coefficients = std::vector<std::int64_t>;

/// The term at a sample.
int valueOf(const Term &term, const Sample &s);

/// coefficients · terms; the first term is ConstantTerm.
struct LinearSum {
  Terms terms;
  Coefficients coefficients;

  std::int64_t at(const Sample &s) const;
  bool isZero() const;
  Expr spelled(const Axes &axes) const;
};

} // namespace mscclc::cuda
