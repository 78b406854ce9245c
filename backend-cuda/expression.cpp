#include "backend-cuda/expression.h"

namespace mscclc::cuda {

namespace {

struct Mentions {
  const Variable &variable;

  bool operator()(const Constant &) const { return false; }
  bool operator()(const VariableUse &e) const { return e.variable == &variable; }
  bool operator()(const Negation &e) const { return mentions(e.operand, variable); }
  bool operator()(const Binary &e) const { return mentions(e.left, variable) || mentions(e.right, variable); }
  bool operator()(const Modulo &e) const { return mentions(e.operand, variable); }
  bool operator()(const Lookup &e) const { return mentions(e.index, variable); }
  bool operator()(const Conditional &e) const {
    return mentions(e.condition, variable) || mentions(e.yes, variable) || mentions(e.no, variable);
  }
  bool operator()(const Grouped &e) const { return mentions(e.inner, variable); }
};

} // namespace

bool mentions(const Expr &expr, const Variable &variable) {
  return expr && std::visit(Mentions{variable}, expr->what);
}

} // namespace mscclc::cuda
