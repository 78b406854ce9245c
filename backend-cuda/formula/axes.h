// The variables that a formula is spelled in.
#pragma once

#include "backend-cuda/expression.h"
#include "backend-cuda/formula/sample.h"

namespace mscclc::cuda {

/// The variable of each axis; those of a block program, unless it is said.
struct Axes {
  const Variable *rank = &var::rank;
  const Variable *block = &var::block;
  const Variable *step = &var::step;
  const Variable *item = &var::item;

  Expr operator[](Axis axis) const {
    switch (axis) {
    case Axis::Rank:
      return use(*rank);
    case Axis::Block:
      return use(*block);
    case Axis::Step:
      return use(*step);
    case Axis::Item:
      return use(*item);
    }
    return {};
  }
};

} // namespace mscclc::cuda
