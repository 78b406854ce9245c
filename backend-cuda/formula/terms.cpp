#include "backend-cuda/formula/terms.h"

#include <algorithm>

namespace mscclc::cuda {

namespace {

int partOf(int v, const Part &part) {
  return part.divisor == 0 ? v : part.quotient ? v / part.divisor : v % part.divisor;
}

struct Value {
  const Sample &s;

  int operator()(const ConstantTerm &) const { return 1; }
  int operator()(const Part &t) const { return partOf(coordinate(s, t.axis), t); }
  int operator()(const Reaches &t) const {
    return partOf(coordinate(s, t.counted.axis) - t.from, t.counted) >= partOf(s.rank, t.rank) ? 1 : 0;
  }
  int operator()(const FromRank &t) const { return s.rank >= t.rank ? 1 : 0; }
};

Expr spelledPart(Expr whole, const Part &part) {
  if (part.divisor == 0)
    return whole;
  return binary(std::move(whole), part.quotient ? Operator::Divide : Operator::Remainder, constant(part.divisor));
}

struct Spell {
  const Axes &axes;

  Expr operator()(const ConstantTerm &) const { return constant(1); }
  Expr operator()(const Part &t) const { return spelledPart(axes[t.axis], t); }
  Expr operator()(const Reaches &t) const {
    // i - 1 >= rank reads better as i > rank.
    const bool passes = t.from == 1 && t.counted.divisor == 0;
    Expr counted = axes[t.counted.axis];
    if (t.from != 0 && !passes)
      counted = binary(std::move(counted), Operator::Subtract, constant(t.from));
    return makeExpr(
        Grouped{binary(spelledPart(std::move(counted), t.counted), passes ? Operator::More : Operator::AtLeast,
                       spelledPart(axes[Axis::Rank], t.rank))});
  }
  Expr operator()(const FromRank &t) const {
    return makeExpr(Grouped{binary(axes[Axis::Rank], Operator::AtLeast, constant(t.rank))});
  }
};

} // namespace

int valueOf(const Term &term, const Sample &s) {
  return std::visit(Value{s}, term);
}

std::int64_t LinearSum::at(const Sample &s) const {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < terms.size(); ++i)
    if (coefficients[i] != 0)
      sum += coefficients[i] * valueOf(terms[i], s);
  return sum;
}

bool LinearSum::isZero() const {
  return std::all_of(coefficients.begin(), coefficients.end(), [](std::int64_t c) { return c == 0; });
}

Expr LinearSum::spelled(const Axes &axes) const {
  Expr sum;
  const auto add = [&](std::int64_t coefficient, Expr product) {
    if (!sum)
      sum = coefficient < 0 ? negation(std::move(product)) : std::move(product);
    else
      sum = binary(std::move(sum), coefficient < 0 ? Operator::Subtract : Operator::Add, std::move(product));
  };
  for (std::size_t i = 1; i < terms.size(); ++i) {
    const std::int64_t c = coefficients[i], magnitude = c < 0 ? -c : c;
    if (c == 0)
      continue;
    Expr term = std::visit(Spell{axes}, terms[i]);
    add(c, magnitude == 1 ? std::move(term) : binary(constant(magnitude), Operator::Multiply, std::move(term)));
  }
  // The constant comes last.
  if (const std::int64_t c = coefficients[0]; c != 0)
    add(c, constant(c < 0 ? -c : c));
  return sum ? sum : constant(0);
}

} // namespace mscclc::cuda
