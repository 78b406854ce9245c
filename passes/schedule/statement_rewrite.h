// The result of a step that rewrites statements.
#pragma once

#include "ir/program.h"

#include <utility>
#include <vector>

namespace mscclc::passes::schedule {

/// Statements that replace those of a program, and the scratch of its ranks with what they need.
struct StatementRewrite {
  explicit StatementRewrite(const ir::Program &program) {
    for (const ir::Rank &rank : program.ranks)
      scratch.push_back(rank.scratchChunks);
  }

  ir::Movement made;                  ///< only its statements and places count
  std::vector<std::uint32_t> scratch; ///< [rank]: chunks

  /// Moves the statements into `program`, the one that was rewritten. Its other properties stay.
  void moveInto(ir::Program &program) {
    program.movement.statements = std::move(made.statements);
    program.movement.places = std::move(made.places);
    for (std::uint32_t r = 0; r < scratch.size(); ++r)
      program.ranks[r].scratchChunks = scratch[r];
  }
};

} // namespace mscclc::passes::schedule
