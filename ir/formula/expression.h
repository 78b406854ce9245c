// Numbers and conditions of emitted C++, as trees. A tree refers to its variables by their address.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace mscclc::formula {

/// A name that the emitted code declares.
struct Variable {
  std::string_view name;
};

struct ExprNode;
/// An expression; null means that there is none. Trees are shared, because they never change.
using Expr = std::shared_ptr<const ExprNode>;

enum class Operator : std::uint8_t {
  Add,
  Subtract,
  Multiply,
  Divide,
  Remainder,
  ShiftLeft,
  ShiftRight,
  ExclusiveOr,
  Equal,
  Less,
  AtMost,
  More,
  AtLeast,
  And
};

struct Constant {
  std::int64_t value;
};
struct VariableUse {
  const Variable *variable;
};
/// An expression that is already text.
struct Spelled {
  std::string text;
};
struct Negation {
  Expr operand;
};
struct Binary {
  Operator op;
  Expr left, right;
};
/// A remainder that is never negative.
struct Modulo {
  Expr operand;
  std::int64_t modulus;
};
/// An entry of a table.
struct Lookup {
  std::string table;
  Expr index;
};
struct Conditional {
  Expr condition, yes, no;
};
/// An expression in parentheses that C++ does not require: a condition used as a number, or a table index that counts
/// from the first entry.
struct Grouped {
  Expr inner;
};

struct ExprNode {
  std::variant<Constant, VariableUse, Spelled, Negation, Binary, Modulo, Lookup, Conditional, Grouped> what;
};

template <class T> Expr makeExpr(T what) {
  return std::make_shared<const ExprNode>(ExprNode{std::move(what)});
}
inline Expr constant(std::int64_t value) {
  return makeExpr(Constant{value});
}
inline Expr use(const Variable &variable) {
  return makeExpr(VariableUse{&variable});
}
inline Expr grouped(Expr inner) {
  return makeExpr(Grouped{std::move(inner)});
}
inline Expr negation(Expr operand) {
  return makeExpr(Negation{std::move(operand)});
}
inline Expr binary(Expr left, Operator op, Expr right) {
  return makeExpr(Binary{op, std::move(left), std::move(right)});
}
/// `variable op value`
inline Expr binary(const Variable &variable, Operator op, std::int64_t value) {
  return binary(use(variable), op, constant(value));
}

/// True if `variable` occurs in `expr`.
bool mentions(const Expr &expr, const Variable &variable);

/// Returns `expr` as C++ text that stands alone, as an argument or a statement.
std::string spell(const Expr &expr);
/// Returns `expr` as an operand of a larger expression: a conditional gets parentheses.
std::string spellWithin(const Expr &expr);

} // namespace mscclc::formula
