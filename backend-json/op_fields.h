// The fields of an operation by their names in a plan, for comparing and showing. Used by compare_plans.cpp.
#pragma once

#include "ir/program.h"

#include <string>
#include <vector>

namespace mscclc::json {

/// An operation with its block and rank.
struct PlacedOp {
  const ir::Rank &rank;
  const ir::ThreadBlock &block;
  const ir::Op &op;
};

/// True if both operations have the same text in a plan, without the bodies of pipelines.
bool sameOp(const PlacedOp &left, const PlacedOp &right);

struct FieldDifference {
  std::string field, left, right;
};
/// Returns the differences between two operations of one kind.
std::vector<FieldDifference> differingFields(const PlacedOp &left, const PlacedOp &right);

} // namespace mscclc::json
