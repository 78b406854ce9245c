#include "passes/schedule/synchronise.h"

#include "ir/program_index.h"
#include "passes/schedule/block_writer.h"

#include <utility>

namespace mscclc::passes {
namespace {

void synchronise(PassContext &context) {
  ir::Program &program = context.program;
  if (program.movement.statements.empty())
    return;
  const schedule::SyncPlan plan =
      schedule::planSync(program, schedule::StatementGraph(program),
                         context.target.executor ? context.target.executor->channelsPerBlock : ir::none);
  const ir::Movement movement = std::exchange(program.movement, {});
  const schedule::Channels channels(program, movement, plan);
  schedule::BlockWriter writer(program, movement, plan, channels);
  std::uint64_t edges = 0;
  for (std::uint32_t agent = 0; agent < plan.agents.size(); ++agent) {
    writer.write(agent);
    for (const schedule::Group &group : plan.agents[agent].groups)
      edges += group.waits.size();
  }
  context.stats.count("edges", edges);
}

} // namespace

Pass createSynchronisePass() {
  return {.needs = Placed | Cut, .provides = Scheduled, .run = synchronise};
}

} // namespace mscclc::passes
