#include "ir/formula/space.h"

#include <algorithm>

namespace mscclc::formula {

Expr Part::spelled() const {
  if (axis == nullptr)
    return constant(-from);
  Expr whole = use(*axis->variable);
  if (from != 0)
    whole = binary(std::move(whole), Operator::Subtract, constant(from));
  if (divisor == 0)
    return whole;
  return binary(std::move(whole), quotient ? Operator::Divide : Operator::Remainder, constant(divisor));
}

Expr Feature::spelled() const {
  if (limit) {
    // i > rank is easier to read than i - 1 >= rank.
    const bool passes = part.from == 1 && part.divisor == 0;
    return grouped(binary(passes ? Part{part.axis}.spelled() : part.spelled(),
                          passes ? Operator::More : Operator::AtLeast, limit->spelled()));
  }
  if (shifted == 0)
    return part.spelled();
  return grouped(binary(constant(shifted), doubles ? Operator::ShiftLeft : Operator::ShiftRight, part.spelled()));
}

Space::Space(std::vector<Axis> axes, std::size_t points, std::uint32_t ranks, std::vector<std::uint32_t> nodes)
    : axes_(std::move(axes)), points_(points), ranks_(ranks), nodes_(std::move(nodes)) {
  bases_.reserve(nodes_.size() + 1); // references to bases stay valid
  for (Axis &axis : axes_)
    if (!axis.at.empty()) {
      const auto [low, high] = std::ranges::minmax(axis.at);
      axis.low = low;
      axis.high = high;
    }
}

const Basis &Space::basis(std::size_t number) const {
  while (bases_.size() <= number)
    bases_.push_back(makeBasis(bases_.size()));
  return bases_[number];
}

/// Returns for each value of the part's axis the number that it adds to the number of a cell: `stride` times the number
/// of smaller values of the part. Multiplies `stride` by the number of values of the part.
static std::vector<std::uint32_t> numberValues(const Part &part, std::size_t &stride) {
  std::vector<std::uint32_t> offsets(static_cast<std::size_t>(part.axis->high) + 1, 0), codes(offsets.size(), 0);
  const auto valueOf = [&part](std::int32_t value) {
    return static_cast<std::size_t>(part.divisor == 0 ? value
                                    : part.quotient   ? value / part.divisor
                                                      : value % part.divisor);
  };
  for (const std::int32_t value : part.axis->at)
    offsets[static_cast<std::size_t>(value)] = 1;
  for (std::size_t value = 0; value < offsets.size(); ++value)
    if (offsets[value] != 0)
      codes[valueOf(static_cast<std::int32_t>(value))] = 1;
  std::size_t count = 0;
  for (std::uint32_t &code : codes)
    code = static_cast<std::uint32_t>(code != 0 ? stride * count++ : 0);
  for (std::size_t value = 0; value < offsets.size(); ++value)
    offsets[value] = codes[valueOf(static_cast<std::int32_t>(value))];
  stride *= std::max<std::size_t>(count, 1);
  return offsets;
}

/// Sets the steps along a direction. A point with value v on the axis is `offsets[v]` cells after the first cell of its
/// line.
static void findSteps(const Basis &basis, const std::vector<std::uint32_t> &offsets, Direction &direction) {
  const std::vector<std::int32_t> &at = direction.feature.part.axis->at;
  std::vector<std::uint32_t> last(basis.cells, Direction::none); // last point of each line along the direction
  direction.next.resize(basis.cellOf.size());
  for (std::size_t p = basis.cellOf.size(); p-- > 0;)
    direction.next[p] =
        std::exchange(last[basis.cellOf[p] - offsets[static_cast<std::size_t>(at[p])]], static_cast<std::uint32_t>(p));
  for (std::size_t p = 0; p < direction.next.size() && !direction.unit; ++p)
    if (const std::uint32_t next = direction.next[p];
        next != Direction::none && direction.feature.at(next) == direction.feature.at(p) + 1)
      direction.unit = Neighbours{p, next};
}

Basis Space::makeBasis(std::size_t number) const {
  Basis basis;
  std::vector<std::shared_ptr<Direction>> added;
  const auto add = [&](Part part, int depth) {
    added.push_back(std::make_shared<Direction>(Direction{.feature = {part}, .depth = depth}));
    basis.directions.push_back(added.back());
  };
  if (number == 0) {
    for (const Axis &axis : axes_)
      add({&axis}, static_cast<int>(added.size()));
  } else {
    const auto node = static_cast<std::int32_t>(nodes_[number - 1]);
    add({&axes_[0], node, true}, 0);
    add({&axes_[0], node, false}, 0);
    basis.directions.insert(basis.directions.end(), bases_[0].directions.begin() + 1, bases_[0].directions.end());
  }
  std::vector<std::vector<std::uint32_t>> offsets(basis.directions.size());
  basis.cells = 1;
  basis.cellOf.assign(points_, 0);
  basis.strides.resize(basis.directions.size());
  for (std::size_t i = basis.directions.size(); i-- > 0;) {
    basis.strides[i] = basis.cells;
    const Part &part = basis.directions[i]->feature.part;
    offsets[i] = numberValues(part, basis.cells);
    for (std::size_t p = 0; p < points_; ++p)
      basis.cellOf[p] += offsets[i][static_cast<std::size_t>(part.axis->at[p])];
  }
  for (std::size_t i = 0; i < added.size(); ++i)
    findSteps(basis, offsets[i], *added[i]);
  return basis;
}

} // namespace mscclc::formula
