// The points at which a number of a program is known, and the variables that an expression may use there.
//
// A program has one number at many points: for each rank, and for each thread block, iteration of a loop or item of a
// list. The code of this folder finds an expression with the right value at all points.
#pragma once

#include "ir/formula/expression.h"

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace mscclc::formula {

/// The values of a number, by point.
using Values = std::span<const std::int64_t>;
/// Marks a point at which a number is not read. An expression may have any value there. Only the functions of sum.h
/// accept it.
inline constexpr std::int64_t anyValue = std::numeric_limits<std::int64_t>::min();

/// A variable, and its value at each point.
struct Axis {
  const Variable *variable = nullptr;
  std::vector<std::int32_t> at = {};
  bool countsUp = true; ///< all numbers between the lowest and the highest value occur
  std::int32_t low = 0, high = 0;

  bool varies() const { return low != high; }
};

/// An axis minus `from`. With a divisor, it is the quotient or the remainder of this difference. Without an axis, it is
/// the number -`from`.
struct Part {
  const Axis *axis = nullptr;
  std::int32_t divisor = 0;
  bool quotient = false;
  std::int32_t from = 0;

  std::int64_t at(std::size_t point) const {
    const std::int32_t value = (axis != nullptr ? axis->at[point] : 0) - from;
    return divisor == 0 ? value : quotient ? value / divisor : value % divisor;
  }
  Expr spelled() const;
};

/// A number that sums are made of: a part; or, with `limit`, 1 where the part is at least the limit and else 0; or the
/// number `shifted`, shifted by the part.
struct Feature {
  Part part;
  std::optional<Part> limit = {};
  std::int64_t shifted = 0; ///< `shifted << part` or `shifted >> part`; 0: no shift
  bool doubles = false;     ///< true: shifts to the left; false: to the right

  std::int64_t at(std::size_t point) const {
    const std::int64_t value = part.at(point);
    if (limit)
      return value >= limit->at(point) ? 1 : 0;
    return shifted == 0 ? value : doubles ? shifted << value : shifted >> value;
  }
  Expr spelled() const;
};
using Features = std::vector<Feature>;

/// Two points. One feature differs by one between them, and all other features of a list are equal.
struct Neighbours {
  std::size_t first, second;
};

/// A part that a number may depend on, and how to step along it.
struct Direction {
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  Feature feature;
  int depth = 0; ///< 0 for the rank, else the number of the loop, from 1
  std::vector<std::uint32_t> next =
      {}; ///< for each point, the next point where the feature is larger and the rest of the basis is equal; or `none`
  std::optional<Neighbours> unit = {}; ///< the first pair of neighbours whose values differ by one
};

/// Directions that together identify each point. They also number the cells of a dense grid that holds all points.
struct Basis {
  std::vector<std::shared_ptr<const Direction>> directions;
  std::vector<std::size_t> strides;  ///< distance of neighbouring cells along each direction; 1 for the last direction
  std::vector<std::uint32_t> cellOf; ///< by point
  std::size_t cells = 0;
};

class Space {
public:
  /// axes[0] is the rank. Each axis has `points` values. `ranks` is the number of ranks of the program. `nodes` are
  /// possible numbers of ranks of a node. If basis() is called, points must be sorted by axes[0], then axes[1], and so
  /// on.
  Space(std::vector<Axis> axes, std::size_t points, std::uint32_t ranks, std::vector<std::uint32_t> nodes = {});
  Space(const Space &) = delete;
  Space &operator=(const Space &) = delete;

  std::size_t points() const { return points_; }
  std::int64_t ranks() const { return ranks_; }
  const std::vector<Axis> &axes() const { return axes_; }
  const std::vector<std::uint32_t> &nodes() const { return nodes_; }

  std::size_t numBases() const { return nodes_.size() + 1; }
  /// Returns a basis. Basis 0 consists of the axes. In basis n, two directions replace the rank: its node of nodes()[n
  /// - 1] ranks, and its place in the node.
  const Basis &basis(std::size_t number) const;

private:
  Basis makeBasis(std::size_t number) const;

  std::vector<Axis> axes_;
  std::size_t points_;
  std::uint32_t ranks_;
  std::vector<std::uint32_t> nodes_;
  mutable std::vector<Basis> bases_; ///< bases that were made so far
};

} // namespace mscclc::formula
