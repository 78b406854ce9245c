// Finds formulas for numbers of a program that differ between ranks, blocks, repetitions and items.
//
// SPMD folding turns many equal programs into one. Their differences (a peer, a chunk, a channel) become functions of
// the block that runs the program. Most such functions have a formula (ir/formula). The others become tables.
#pragma once

#include "backend-cuda/tables.h"
#include "ir/formula/forms.h"

#include <array>
#include <functional>

namespace mscclc::cuda {

using formula::anyValue;
using formula::binary;
using formula::constant;
using formula::Expr;
using formula::makeExpr;
using formula::mentions;
using formula::Operator;
using formula::spell;
using formula::spellWithin;
using formula::use;
using formula::Variable;

/// The variables of a block program.
namespace var {
inline constexpr Variable rank{"k.rank"};
inline constexpr Variable block{"k.block"};
inline constexpr Variable step{"j"}; ///< repetition of a rolled sequence
inline constexpr Variable item{"i"}; ///< number of an item in a list
inline constexpr Variable unit{"u"}; ///< iteration of a pipeline
} // namespace var

/// The place of a number: block `block` of rank `rank`, repetition `step` of a repeated sequence, item `item` of a
/// list.
struct Sample {
  int rank = 0;
  int block = 0;
  int step = 0;
  int item = 0;
};

/// A block of a rank.
struct RankBlock {
  int rank;
  int block;
  friend bool operator==(const RankBlock &, const RankBlock &) = default;
};

/// All samples of a number: every instance × steps × items.
struct SampleSpace {
  std::span<const RankBlock> instances;
  int steps = 1;
  int firstItem = 0;
  int items = 1;
};

/// The number at a sample, or anyValue.
using ValueOf = std::function<std::int64_t(const Sample &)>;

/// Calls f(sample) for every sample until f returns false. Returns true if f always returned true.
template <class F> bool forAll(const SampleSpace &space, F f) {
  for (const RankBlock &at : space.instances)
    for (int step = 0; step < space.steps; ++step)
      for (int item = 0; item < space.items; ++item)
        if (!f(Sample{at.rank, at.block, step, space.firstItem + item}))
          return false;
  return true;
}

/// The variables of rank, block, step and item, in which a formula is spelled.
using Axes = std::array<const Variable *, 4>;
inline constexpr Axes ofBlockProgram{&var::rank, &var::block, &var::step, &var::item};

/// Finds the expression of a number.
class FormulaFinder {
public:
  /// `ranks`: the number of ranks of the program. Formulas of rings are usually modulo this number.
  FormulaFinder(int ranks, Tables &tables) : ranks_(static_cast<std::uint32_t>(ranks)), tables_(tables) {}

  /// Returns an expression for `value` over `space`, without a table; null if there is none.
  Expr expression(const SampleSpace &space, const ValueOf &value, const Axes &axes = ofBlockProgram) const;
  /// Returns an expression for `value` over `space`: a formula, or a table look-up if there is none.
  Expr expressionOrTable(const SampleSpace &space, const ValueOf &value, const Axes &axes = ofBlockProgram);

private:
  std::uint32_t ranks_;
  Tables &tables_;
};

} // namespace mscclc::cuda
