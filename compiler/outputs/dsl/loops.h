// The points at which a line has numbers: ranks of a class, and iterations of the loops around the line.
#pragma once

#include "compiler/outputs/dsl/node.h"
#include "ir/formula/forms.h"

#include <optional>
#include <string>
#include <vector>

namespace mscclc::dsl {

/// A loop around lines.
struct Loop {
  std::uint32_t count = 0;
  LoopStyle style = {};
  std::string name; ///< name of its variable
};

/// Finds expressions of the rank and the loops' variables. A point is a rank and an iteration of each loop. Points are
/// in the order of Node::values.
class LoopSpace {
public:
  /// `ranks`: the class, ascending. `nodes`: possible numbers of ranks of a node. `loops`: outermost first.
  LoopSpace(const std::vector<std::uint32_t> &ranks, std::uint32_t numRanks, const std::vector<std::uint32_t> &nodes,
            std::vector<Loop> loops);

  std::size_t points() const { return space_->points(); }
  /// Returns an expression that has these values, one for each point; nothing if no known form has them. It refers to
  /// the names of the loops in this object.
  std::optional<formula::Sum> fit(formula::Values values) const {
    return formula::findFormula(formula::sourceForms, {*space_, values});
  }

private:
  std::vector<Loop> loops_;
  std::vector<formula::Variable> variables_; ///< the loops' variables
  std::unique_ptr<formula::Space> space_;
};

} // namespace mscclc::dsl
