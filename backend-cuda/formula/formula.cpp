#include "backend-cuda/formula/formula.h"

#include "backend-cuda/formula/forms.h"

namespace mscclc::cuda {

Expr FormulaFinder::expression(const SampleSpace &space, const ValueOf &value, const Axes &axes) const {
  const Sought sought{space, value, ranks_, Variation(space, ranks_)};
  for (const Form &form : forms)
    if (ranks_ >= form.fewestRanks)
      if (const auto formula = form.fit(sought))
        return formula->spelled(axes);
  return {};
}

Expr FormulaFinder::expressionOrTable(const SampleSpace &space, const ValueOf &value, const Axes &axes) {
  if (Expr found = expression(space, value, axes))
    return found;
  return lookUp(space, value, axes, tables_);
}

} // namespace mscclc::cuda
