// The points at which a line has numbers. A point is a rank of a class with an iteration of each loop around the line.
#pragma once

#include "compiler/outputs/dsl/node.h"
#include "ir/formula/forms.h"

#include <optional>
#include <string>
#include <vector>

namespace mscclc::dsl {

/// A loop around the lines that are being folded.
struct Loop {
  std::uint32_t count = 0;
  LoopStyle style = {};
  std::string name; ///< name of its variable
};

/// Finds expressions in the rank and the variables of loops. A point consists of a rank and an iteration of each loop.
/// Points have the order of Node::values.
class LoopSpace {
public:
  /// `ranks`: the ranks of the class, ascending. `nodes`: the possible numbers of ranks on a node. `loops`: the
  /// outermost loop comes first.
  LoopSpace(const std::vector<std::uint32_t> &ranks, std::uint32_t numRanks, const std::vector<std::uint32_t> &nodes,
            std::vector<Loop> loops);

  std::size_t points() const { return space_->points(); }
  /// Returns an expression that has `values`, one for each point; nothing if no known form has these values. The
  /// expression refers to names of loops that this object owns.
  std::optional<formula::Sum> fit(formula::Values values) const {
    return formula::findFormula(formula::sourceForms, {*space_, values});
  }

private:
  std::vector<Loop> loops_;
  std::vector<formula::Variable> variables_; ///< the loops' variables
  std::unique_ptr<formula::Space> space_;
};

} // namespace mscclc::dsl
