// Numbers and conditions of an emitted kernel, as trees. Variables are referred to by address, so the tree itself says
// on which of them it depends. Only printer.cpp knows how a tree is spelled.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace mscclc::cuda {

/// A name that the emitted code declares.
struct Variable {
  std::string_view name;
};

/// The variables of a block program.
namespace var {
inline constexpr Variable rank{"k.rank"};
inline constexpr Variable block{"k.block"};
inline constexpr Variable step{"j"}; ///< repetition of a rolled sequence
inline constexpr Variable item{"i"}; ///< number of an item in a list
inline constexpr Variable unit{"u"}; ///< iteration of a pipeline
} // namespace var

struct ExprNode;
/// An expression; null where there is none. Shared, as trees never change.
using Expr = std::shared_ptr<const ExprNode>;

enum class Operator : std::uint8_t {
  Add,
  Subtract,
  Multiply,
  Divide,
  Remainder,
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
struct Negation {
  Expr operand;
};
struct Binary {
  Operator op;
  Expr left, right;
};
/// The remainder that is never negative.
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
/// An expression in parentheses where C++ asks for none: a condition as a number, a table's index from its first one.
struct Grouped {
  Expr inner;
};

struct ExprNode {
  std::variant<Constant, VariableUse, Negation, Binary, Modulo, Lookup, Conditional, Grouped> what;
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

} // namespace mscclc::cuda
