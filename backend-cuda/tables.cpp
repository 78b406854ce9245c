#include "backend-cuda/tables.h"

#include <algorithm>
#include <optional>

namespace mscclc::cuda {

namespace {

using Indexes = std::vector<const formula::Axis *>;

std::int64_t extentOf(const formula::Axis &axis) {
  return std::int64_t{axis.high} - axis.low + 1;
}

/// Returns the entries of a table for `values` with these indices. Returns nothing if two different values have equal
/// indices.
std::optional<std::vector<std::int64_t>> fill(formula::Values values, const Indexes &indexes) {
  std::size_t total = 1;
  for (const formula::Axis *axis : indexes)
    total *= static_cast<std::size_t>(extentOf(*axis));
  std::vector<std::int64_t> entries(total, formula::anyValue);
  for (std::size_t p = 0; p < values.size(); ++p) {
    if (values[p] == formula::anyValue)
      continue;
    std::int64_t index = 0;
    for (const formula::Axis *axis : indexes)
      index = index * extentOf(*axis) + axis->at[p] - axis->low;
    std::int64_t &entry = entries[static_cast<std::size_t>(index)];
    if (entry != formula::anyValue && entry != values[p])
      return std::nullopt;
    entry = values[p];
  }
  return entries;
}

formula::Expr spelledIndex(const Indexes &indexes) {
  formula::Expr index;
  for (const formula::Axis *axis : indexes) {
    formula::Expr at = formula::Part{.axis = axis, .from = axis->low}.spelled();
    if (axis->low != 0)
      at = grouped(std::move(at));
    index = !index ? std::move(at)
                   : binary(binary(index, formula::Operator::Multiply, formula::constant(extentOf(*axis))),
                            formula::Operator::Add, std::move(at));
  }
  return index ? index : formula::constant(0);
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

formula::Expr lookUp(const formula::Space &space, formula::Values values, Tables &tables) {
  Indexes indexes;
  for (const formula::Axis &axis : space.axes())
    indexes.push_back(&axis);
  auto entries = fill(values, indexes);
  for (const formula::Axis &axis : space.axes()) {
    Indexes fewer = indexes;
    std::erase(fewer, &axis);
    if (auto smaller = fill(values, fewer)) {
      entries = std::move(smaller);
      indexes = std::move(fewer);
    }
  }
  std::replace(entries->begin(), entries->end(), formula::anyValue, std::int64_t{0});
  return makeExpr(formula::Lookup{tables.add(*std::move(entries)), spelledIndex(indexes)});
}

} // namespace mscclc::cuda
