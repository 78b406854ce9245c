#include "passes/schedule/order.h"

#include "passes/schedule/peers.h"
#include "passes/schedule/statement_graph.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace mscclc::passes {
namespace {

void order(PassContext &context) {
  ir::Movement &movement = context.program.movement;
  if (movement.statements.empty())
    return;
  const std::vector<std::uint32_t> levels = schedule::levelsOf(schedule::StatementGraph(context.program));
  const schedule::StatementDistances distances(context.program);
  std::vector<std::uint32_t> list(movement.statements.size());
  std::iota(list.begin(), list.end(), 0);
  const auto key = [&](std::uint32_t s) {
    const ir::Move &statement = movement.statements[s];
    return std::tuple(levels[s], distances.ofReach(statement), distances.ofShare(statement), *statement.by, s);
  };
  std::ranges::sort(list, {}, key);
  std::vector<ir::Move> ordered;
  ordered.reserve(list.size());
  for (const std::uint32_t s : list)
    ordered.push_back(movement.statements[s]);
  movement.statements = std::move(ordered);
}

} // namespace

Pass createOrderPass() {
  return {.needs = Placed, .run = order};
}

} // namespace mscclc::passes
