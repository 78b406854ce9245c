// Helpers of steps that rewrite statements.
#pragma once

#include "ir/program.h"

#include <optional>
#include <utility>
#include <vector>

namespace mscclc::passes::schedule {

/// Statements that replace the statements of a program, and the size of scratch that they need on each rank.
struct StatementRewrite {
  explicit StatementRewrite(const ir::Program &program) {
    for (const ir::Rank &rank : program.ranks)
      scratch.push_back(rank.scratchChunks);
  }

  ir::Movement made;                  ///< only its statements and places count
  std::vector<std::uint32_t> scratch; ///< [rank]: chunks

  /// Moves the statements into `program`, which was rewritten. Other properties of the program stay.
  void moveInto(ir::Program &program) {
    program.movement.putStatements(std::move(made));
    for (std::uint32_t r = 0; r < scratch.size(); ++r)
      program.ranks[r].scratchChunks = scratch[r];
  }
};

/// Divides chunks 0 to size - 1 into the longest runs in which keyOf(chunk) is equal. Calls visit(begin, end, key) for
/// each run [begin, end), in order. A statement that has to be cut is cut into these runs. The key that ends a run is
/// computed before the run is visited.
template <typename KeyOf, typename Visit> void eachRun(std::uint32_t size, const KeyOf &keyOf, const Visit &visit) {
  if (size == 0)
    return;
  auto key = keyOf(std::uint32_t{0});
  for (std::uint32_t begin = 0, end = 1; end <= size; ++end) {
    auto next = end < size ? std::optional(keyOf(end)) : std::nullopt;
    if (next && *next == key)
      continue;
    visit(begin, end, key);
    if (next)
      key = std::move(*next);
    begin = end;
  }
}

} // namespace mscclc::passes::schedule
