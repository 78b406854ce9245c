#include "backend-cuda/formula/tables.h"

#include <algorithm>
#include <array>
#include <optional>

namespace mscclc::cuda {

namespace {

/// The extent of a space along one axis.
struct Extent {
  Axis axis;
  int low, size;
  bool needed = true; ///< as an index
};
using Extents = std::array<Extent, 4>;

Extents extentsOf(const SampleSpace &space) {
  Extents extents{{{Axis::Rank, 0, 0},
                   {Axis::Block, 0, 0},
                   {Axis::Step, 0, space.steps},
                   {Axis::Item, space.firstItem, space.items}}};
  const auto set = [&](Extent &extent, int RankBlock::*at) {
    const auto [low, high] = std::minmax_element(space.instances.begin(), space.instances.end(),
                                                 [&](const auto &a, const auto &b) { return a.*at < b.*at; });
    extent.low = *low.*at;
    extent.size = *high.*at - extent.low + 1;
  };
  set(extents[0], &RankBlock::rank);
  set(extents[1], &RankBlock::block);
  return extents;
}

/// Entries of a table with an index for each needed axis; none if two samples with one index differ.
std::optional<std::vector<std::int64_t>> fill(const SampleSpace &space, const ValueOf &value, const Extents &extents) {
  std::size_t total = 1;
  for (const Extent &e : extents)
    total *= e.needed ? static_cast<std::size_t>(e.size) : 1;
  std::vector<std::int64_t> entries(total, anyValue);
  const bool fits = forAll(space, [&](const Sample &s) {
    std::size_t index = 0;
    for (const Extent &e : extents)
      if (e.needed)
        index = index * static_cast<std::size_t>(e.size) + static_cast<std::size_t>(coordinate(s, e.axis) - e.low);
    const std::int64_t v = value(s);
    if (v == anyValue)
      return true;
    if (entries[index] != anyValue && entries[index] != v)
      return false;
    entries[index] = v;
    return true;
  });
  if (!fits)
    return std::nullopt;
  return entries;
}

Expr spelledIndex(const Extents &extents, const Axes &axes) {
  Expr index;
  for (const Extent &e : extents) {
    if (!e.needed)
      continue;
    const Expr at =
        e.low == 0 ? axes[e.axis] : makeExpr(Grouped{binary(axes[e.axis], Operator::Subtract, constant(e.low))});
    index = !index ? at : binary(binary(index, Operator::Multiply, constant(e.size)), Operator::Add, at);
  }
  return index ? index : constant(0);
}

} // namespace

std::string Tables::add(std::vector<std::int64_t> entries) {
  for (const Table &t : tables_)
    if (t.entries == entries)
      return t.name;
  entries_ += entries.size();
  tables_.push_back({prefix_ + std::to_string(tables_.size()), std::move(entries)});
  return tables_.back().name;
}

Expr lookUp(const SampleSpace &space, const ValueOf &value, const Axes &axes, Tables &tables) {
  Extents extents = extentsOf(space);
  auto entries = fill(space, value, extents);
  for (Extent &e : extents) {
    e.needed = false;
    if (auto fewer = fill(space, value, extents))
      entries = std::move(fewer);
    else
      e.needed = true;
  }
  std::replace(entries->begin(), entries->end(), anyValue, std::int64_t{0});
  return makeExpr(Lookup{tables.add(*std::move(entries)), spelledIndex(extents, axes)});
}

} // namespace mscclc::cuda
