// Fields of one operation as a plan names them, for comparing and showing. Used by compare_plans.cpp.
#pragma once

#include "ir/program.h"

#include <string>
#include <vector>

namespace mscclc::json {

/// An operation within its block and rank.
struct PlacedOp {
  const ir::Rank &rank;
  const ir::ThreadBlock &block;
  const ir::Op &op;
};

/// True if a plan says the same of both, bodies of pipelines aside.
bool sameOp(const PlacedOp &left, const PlacedOp &right);

struct FieldDifference {
  std::string field, left, right;
};
/// What differs between two operations of one kind.
std::vector<FieldDifference> differingFields(const PlacedOp &left, const PlacedOp &right);

} // namespace mscclc::json
