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
  /// `prefix`: their names are that and a number.
  explicit Tables(std::string prefix = "table") : prefix_(std::move(prefix)) {}
  /// Name of the table with these entries, in emission order.
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

/// The entry that is `value`, of the smallest table that has all of them: without the axes on which it does not depend.
formula::Expr lookUp(const formula::Space &space, formula::Values values, Tables &tables);

} // namespace mscclc::cuda
