#include "passes/schedule/order.h"

#include "passes/schedule/rank_distances.h"
#include "passes/schedule/statement_graph.h"

#include <algorithm>
#include <array>
#include <vector>

namespace mscclc::passes {
namespace {

void order(PassContext &context) {
  ir::Movement &movement = context.program.movement;
  if (movement.statements.empty())
    return;
  const std::vector<std::uint32_t> levels = schedule::levelsOf(schedule::StatementGraph(context.program));
  const schedule::StatementDistances distances(context.program);
  using Key = std::array<std::uint32_t, 6>;
  std::vector<Key> keys;
  keys.reserve(movement.statements.size());
  for (std::uint32_t s = 0; s < movement.statements.size(); ++s) {
    const ir::Move &statement = movement.statements[s];
    const bool isForHere = !schedule::relaysPackets(movement, statement);
    keys.push_back(
        {levels[s], isForHere, distances.ofReach(statement), distances.ofShare(statement), *statement.by, s});
  }
  std::ranges::sort(keys);
  std::vector<ir::Move> ordered;
  ordered.reserve(keys.size());
  for (const Key &key : keys)
    ordered.push_back(movement.statements[key.back()]);
  movement.statements = std::move(ordered);
}

} // namespace

Pass createOrderPass() {
  return {.needs = Placed, .run = order};
}

} // namespace mscclc::passes
