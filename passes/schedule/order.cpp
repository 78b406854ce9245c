#include "passes/schedule/order.h"

#include "ir/containers.h"
#include "passes/schedule/statement_distances.h"
#include "passes/schedule/statement_graph.h"

#include <tuple>
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
  const std::vector<std::uint32_t> order =
      ir::sortedBy(ir::numbersBelow(movement.statements.size()), [&](std::uint32_t s) {
        const ir::Move &statement = movement.statements[s];
        return std::tuple(graph.phases()[s], !schedule::relaysPackets(movement, statement), distances.ofReach(s),
                          distances.ofShare(s), *statement.by);
      });
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
