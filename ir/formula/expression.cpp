#include "ir/formula/expression.h"

#include <iterator>

namespace mscclc::formula {

namespace {

struct Mentions {
  const Variable &variable;

  bool operator()(const Constant &) const { return false; }
  bool operator()(const VariableUse &e) const { return e.variable == &variable; }
  bool operator()(const Spelled &) const { return false; }
  bool operator()(const Negation &e) const { return mentions(e.operand, variable); }
  bool operator()(const Binary &e) const { return mentions(e.left, variable) || mentions(e.right, variable); }
  bool operator()(const Modulo &e) const { return mentions(e.operand, variable); }
  bool operator()(const Lookup &e) const { return mentions(e.index, variable); }
  bool operator()(const Conditional &e) const {
    return mentions(e.condition, variable) || mentions(e.yes, variable) || mentions(e.no, variable);
  }
  bool operator()(const Grouped &e) const { return mentions(e.inner, variable); }
};

/// The precedences of expressions, lowest first. A negation has that of sums. It needs parentheses only at the right of
/// an operator, because (-a) % b and -(a % b) are the same number.
enum class Precedence : std::uint8_t { Conditional, And, ExclusiveOr, Equal, Compare, Shift, Sum, Product, Primary };

constexpr Precedence tighter(Precedence p) {
  return static_cast<Precedence>(static_cast<int>(p) + 1);
}

struct OperatorSpelling {
  std::string_view text;
  Precedence precedence;
};

constexpr OperatorSpelling spellings[] = {
    // by Operator
    {" + ", Precedence::Sum},      {" - ", Precedence::Sum},         {" * ", Precedence::Product},
    {" / ", Precedence::Product},  {" % ", Precedence::Product},     {" << ", Precedence::Shift},
    {" >> ", Precedence::Shift},   {" ^ ", Precedence::ExclusiveOr}, {" == ", Precedence::Equal},
    {" < ", Precedence::Compare},  {" <= ", Precedence::Compare},    {" > ", Precedence::Compare},
    {" >= ", Precedence::Compare}, {" && ", Precedence::And},
};
static_assert(std::size(spellings) == static_cast<std::size_t>(Operator::And) + 1);

constexpr const OperatorSpelling &spellingOf(Operator op) {
  return spellings[static_cast<std::size_t>(op)];
}

class ExprPrinter {
public:
  explicit ExprPrinter(std::string &out) : out_(out) {}

  /// Prints `expr`, in parentheses if its precedence is below `least`.
  void print(const Expr &expr, Precedence least) {
    const Precedence own = std::visit([](const auto &e) { return precedenceOf(e); }, expr->what);
    out_ += own < least ? "(" : "";
    std::visit([&](const auto &e) { body(e); }, expr->what);
    out_ += own < least ? ")" : "";
  }

private:
  template <class E> static Precedence precedenceOf(const E &) { return Precedence::Primary; }
  static Precedence precedenceOf(const Negation &) { return Precedence::Sum; }
  static Precedence precedenceOf(const Binary &e) { return spellingOf(e.op).precedence; }
  static Precedence precedenceOf(const Conditional &) { return Precedence::Conditional; }

  void body(const Constant &e) { out_ += std::to_string(e.value); }
  void body(const VariableUse &e) { out_ += e.variable->name; }
  void body(const Spelled &e) { out_ += e.text; }
  void body(const Negation &e) {
    out_ += "-";
    print(e.operand, Precedence::Product);
  }
  void body(const Binary &e) {
    const auto [text, precedence] = spellingOf(e.op);
    print(e.left, precedence);
    out_ += text;
    // a + (b + c) is printed as a + b + c.
    print(e.right, e.op == Operator::Add ? precedence : tighter(precedence));
  }
  void body(const Modulo &e) {
    out_ += "mod(";
    print(e.operand, Precedence::Conditional);
    out_ += ", " + std::to_string(e.modulus) + ")";
  }
  void body(const Lookup &e) {
    out_ += e.table + "[";
    print(e.index, Precedence::Conditional);
    out_ += "]";
  }
  void body(const Conditional &e) {
    print(e.condition, tighter(Precedence::Conditional));
    out_ += " ? ";
    print(e.yes, Precedence::Conditional);
    out_ += " : ";
    print(e.no, Precedence::Conditional);
  }
  void body(const Grouped &e) {
    out_ += "(";
    print(e.inner, Precedence::Conditional);
    out_ += ")";
  }

  std::string &out_;
};

} // namespace

bool mentions(const Expr &expr, const Variable &variable) {
  return expr && std::visit(Mentions{variable}, expr->what);
}

std::string spell(const Expr &expr) {
  std::string out;
  ExprPrinter(out).print(expr, Precedence::Conditional);
  return out;
}

std::string spellWithin(const Expr &expr) {
  std::string out;
  ExprPrinter(out).print(expr, tighter(Precedence::Conditional));
  return out;
}

} // namespace mscclc::formula
