// Finds an expression for numbers: of ranks, and of iterations of loops around them.
#pragma once

#include "compiler/outputs/dsl/node.h"

#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mscclc::dsl {

/// A sum of terms.
struct Formula {
  struct Term {
    std::int64_t factor = 1;
    std::string text;    ///< a variable, or an expression that may stand before `*`
    int depth = 0;       ///< how many loops are around the innermost variable that it names
    bool isLong = false; ///< more than a variable
    friend bool operator==(const Term &, const Term &) = default;
  };
  std::vector<Term> terms;
  std::int64_t constant = 0;
};

/// Of the emitted source, whose numbers are `int`.
inline constexpr std::int64_t largestNumber = std::numeric_limits<std::int32_t>::max();

/// The sum of two formulas.
Formula operator+(const Formula &a, const Formula &b);

/// What numbers may depend on: the ranks of a class, and the loops around them.
///
/// A point is a rank and an iteration of each loop; points are in the order of Node::values.
class Space {
public:
  /// `ranks`: of the class, ascending. `loops`: outermost first. `nodes`: how many ranks a node may have.
  struct Loop {
    std::uint32_t count = 0;
    LoopStyle style = {};
    std::string name; ///< of its variable
  };
  Space(const std::vector<std::uint32_t> &ranks, std::uint32_t numRanks, const std::vector<std::uint32_t> &nodes,
        std::vector<Loop> loops);

  std::size_t points() const { return points_; }
  /// An expression that has these values, one a point; nothing if none of the known forms does.
  std::optional<Formula> fit(std::span<const std::int64_t> values) const;

private:
  struct Variable {
    std::string text;
    int depth = 0;                   ///< 0: of the rank; else the number of its loop, from 1
    std::vector<std::int64_t> at;    ///< by point
    std::vector<std::uint32_t> next; ///< by point: where it is larger, and all else as it is; or `none`
    std::int64_t shifted = 0;        ///< of `shifted << i`, or `shifted >> i`: that number; 0: it is neither
  };
  /// Variables that are enough to tell each point.
  using Basis = std::vector<Variable>;
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  void addBasis(std::uint32_t node) const;
  Variable variableOf(const Loop &loop, int depth, std::size_t stride);
  void findNextRanks(Variable &variable, const std::function<std::int64_t(std::int64_t)> &restOf) const;
  std::uint32_t pointOf(std::size_t index, std::size_t point) const;
  std::optional<Formula> affine(const std::vector<const Variable *> &features,
                                std::span<const std::int64_t> values) const;
  std::optional<Formula> byIndicator(std::span<const std::int64_t> values) const;
  std::int64_t usualSlope(const Variable &variable, std::span<const std::int64_t> values) const;
  std::optional<Formula> byThreshold(std::span<const std::int64_t> values) const;
  Formula withJump(std::vector<std::int64_t> slopes, const std::vector<std::int64_t> &plane, std::int64_t constant,
                   std::int64_t jump) const;
  Formula::Term remainder(Formula inner, std::int64_t modulus, int depth) const;
  std::optional<Formula> inBasis(const Basis &basis, std::span<const std::int64_t> values) const;
  std::optional<Formula> oneForm(const std::vector<const Variable *> &rest,
                                 const std::vector<std::int64_t> &left) const;
  bool bear(const Variable &a, const Variable &b, const std::vector<std::int64_t> &left) const;
  std::optional<Formula> inParts(const std::vector<const Variable *> &rest,
                                 const std::vector<std::int64_t> &left) const;
  std::optional<Formula> modular(const std::vector<const Variable *> &rest,
                                 const std::vector<std::int64_t> &left) const;
  std::optional<Variable> powerOf(const Variable &variable, bool up) const;
  static Formula::Term termOf(const Variable &variable, std::int64_t factor);
  std::optional<Formula> moduloSum(const std::vector<const Variable *> &rest, const std::vector<std::int64_t> &left,
                                   std::int64_t modulus) const;
  std::optional<Formula> modulo(const std::vector<const Variable *> &rest, const std::vector<std::int64_t> &left,
                                std::int64_t modulus) const;
  std::optional<Formula> exclusive(const std::vector<const Variable *> &rest,
                                   const std::vector<std::int64_t> &left) const;
  std::optional<Formula> bit(const std::vector<const Variable *> &rest, const std::vector<std::int64_t> &left) const;
  std::optional<Formula> power(const std::vector<const Variable *> &rest, const std::vector<std::int64_t> &left) const;
  std::string shown(std::int64_t modulus) const;

  std::vector<std::uint32_t> ranks_;
  std::uint32_t numRanks_;
  std::size_t inner_ = 1, points_ = 1; ///< points of a rank, and of all
  std::vector<std::uint32_t> moduli_;  ///< that are tried
  std::vector<std::uint32_t> nodes_;
  std::vector<Loop> loops_;
  mutable std::vector<Basis> bases_; ///< of the rank and the loops' variables, then of each node size, once needed
  std::vector<Variable> indicators_;
};

/// As text: `rank * 2 + 1`.
std::string toString(const Formula &formula);

} // namespace mscclc::dsl
