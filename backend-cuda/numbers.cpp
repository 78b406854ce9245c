#include "backend-cuda/numbers.h"

namespace mscclc::cuda {

namespace {

/// A number at all samples of a space.
struct Sampled {
  formula::Space space;
  std::vector<std::int64_t> values;

  Sampled(const SampleSpace &samples, const ValueOf &value, const Axes &axes, std::uint32_t ranks)
      : space(axesOf(samples, axes), sizeOf(samples), ranks) {
    values.reserve(space.points());
    forAll(samples, [&](const Sample &s) {
      values.push_back(value(s));
      return true;
    });
  }
  Expr expression() const {
    const auto found = formula::findFormula(formula::kernelForms, {space, values});
    return found ? found->spelledInOrder() : Expr();
  }

private:
  static std::size_t sizeOf(const SampleSpace &samples) {
    return samples.instances.size() * static_cast<std::size_t>(samples.steps) * static_cast<std::size_t>(samples.items);
  }
  static std::vector<formula::Axis> axesOf(const SampleSpace &samples, const Axes &axes) {
    std::vector<formula::Axis> all;
    for (const Variable *variable : axes) {
      all.emplace_back().variable = variable;
      all.back().at.reserve(sizeOf(samples));
    }
    forAll(samples, [&](const Sample &s) {
      all[0].at.push_back(s.rank);
      all[1].at.push_back(s.block);
      all[2].at.push_back(s.step);
      all[3].at.push_back(s.item);
      return true;
    });
    return all;
  }
};

} // namespace

Expr FormulaFinder::expression(const SampleSpace &space, const ValueOf &value, const Axes &axes) const {
  return Sampled(space, value, axes, ranks_).expression();
}

Expr FormulaFinder::expressionOrTable(const SampleSpace &space, const ValueOf &value, const Axes &axes) {
  const Sampled sampled(space, value, axes, ranks_);
  if (Expr found = sampled.expression())
    return found;
  return lookUp(sampled.space, sampled.values, tables_);
}

} // namespace mscclc::cuda
