#include "passes/schedule/order.h"

#include "passes/schedule/stable_order.h"
#include "passes/schedule/statement_distances.h"
#include "passes/schedule/statement_graph.h"

#include <utility>
#include <vector>

namespace mscclc::passes {
namespace {

void order(PassContext &context) {
  ir::Movement &movement = context.program.movement;
  if (movement.statements.empty())
    return;
  const auto &graph = context.analyses.of<schedule::StatementGraph>(context.program);
  const auto &distances = context.analyses.of<schedule::StatementDistances>(context.program);
  schedule::StableOrder sorting(movement.statements.size());
  sorting.by([&](std::uint32_t s) { return *movement.statements[s].by; });
  sorting.by([&](std::uint32_t s) { return distances.ofShare(s); });
  sorting.by([&](std::uint32_t s) { return distances.ofReach(s); });
  sorting.by([&](std::uint32_t s) { return !schedule::relaysPackets(movement, movement.statements[s]); });
  sorting.by([&](std::uint32_t s) { return graph.levels()[s]; });
  const std::vector<std::uint32_t> order = sorting.take();
  context.analyses.set(graph.inOrder(order));
  context.analyses.set(distances.inOrder(order));
  std::vector<ir::Move> ordered;
  ordered.reserve(order.size());
  for (const std::uint32_t s : order)
    ordered.push_back(movement.statements[s]);
  movement.statements = std::move(ordered);
}

} // namespace

Pass createOrderPass() {
  return {.needs = Placed, .run = order};
}

} // namespace mscclc::passes
