// Tables of an emitted kernel, for numbers that have no formula.
#pragma once

#include "ir/formula/space.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mscclc::cuda {

/// Constant tables of an emitted file, each written once.
class Tables {
public:
  /// Names are `prefix` and a number.
  explicit Tables(std::string prefix = "table") : prefix_(std::move(prefix)) {}
  /// Returns the name of the table with these entries. Tables are numbered in the order of emission.
  std::string add(std::vector<std::int64_t> entries);
  struct Table {
    std::string name;
    std::vector<std::int64_t> entries;
  };
  const std::vector<Table> &all() const { return tables_; }
  std::size_t entries() const { return entries_; }

private:
  std::string prefix_;
  std::vector<Table> tables_;
  std::size_t entries_ = 0;
};

/// Returns a look-up of `values` in a table, which is added to `tables`. Axes that do not influence the values are left
/// out of the table's index.
formula::Expr lookUp(const formula::Space &space, formula::Values values, Tables &tables);

} // namespace mscclc::cuda
