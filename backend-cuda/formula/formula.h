// Finds the formula behind a number that differs between ranks, blocks, repetitions and items.
//
// SPMD folding turns many equal programs into one; what still differs (a peer, a chunk, a channel) is a function of who
// runs it. Most such functions are of one of a few forms (forms.h) and are written as an expression; the rest becomes a
// table.
#pragma once

#include "backend-cuda/expression.h"
#include "backend-cuda/formula/axes.h"
#include "backend-cuda/formula/sample.h"
#include "backend-cuda/formula/tables.h"

namespace mscclc::cuda {

class FormulaFinder {
public:
  /// `ranks`: number of ranks of the program, the modulus of most rings.
  FormulaFinder(int ranks, Tables &tables) : ranks_(ranks), tables_(tables) {}

  /// An expression for `value` over `space`, without a table; null if there is none.
  Expr expression(const SampleSpace &space, const ValueOf &value, const Axes &axes = {}) const;
  /// The same, with a table where it must be.
  Expr expressionOrTable(const SampleSpace &space, const ValueOf &value, const Axes &axes = {});

private:
  int ranks_;
  Tables &tables_;
};

} // namespace mscclc::cuda
