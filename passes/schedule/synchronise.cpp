#include "passes/schedule/synchronise.h"

#include "ir/program_index.h"
#include "passes/schedule/block_writer.h"
#include "passes/schedule/schedule_diagnostics.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace mscclc::passes {
namespace {

/// Reports the ranks that have more blocks than the program allows: an executor's limits ask for more, or the instances
/// do, or what reaches the rank does.
void checkBlocks(const PassContext &context, std::uint32_t most) {
  const ir::Program &program = context.program;
  for (std::size_t r = 0; r < program.ranks.size(); ++r) {
    const std::vector<ir::ThreadBlock> &blocks = program.ranks[r].blocks;
    const auto isBusy = [](const ir::ThreadBlock &block) { return !block.ops.empty(); };
    const auto busy = static_cast<std::uint64_t>(std::ranges::count_if(blocks, isBusy));
    if (busy * program.instances <= most)
      continue;
    const ir::ThreadBlock &last = *std::find_if(blocks.rbegin(), blocks.rend(), isBusy);
    const std::string instances =
        program.instances == 1 ? "" : " in each of " + std::to_string(program.instances) + " instances";
    ir::DiagBuilder report = context.diags.report(schedule::diag::blocks_not_allowed,
                                                  ir::Where(last.ops[0].loc, "rank " + std::to_string(r)),
                                                  {r, ir::plural(busy, "thread block"), instances, most});
    if (context.target.executor && busy > most)
      report.note(schedule::diag::blocks_of_executor, ir::Where(last.ops[0].loc, "rank " + std::to_string(r)),
                  {context.target.name(), context.target.executor->channelsPerBlock});
  }
}

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
  if (movement.mostBlocks != 0)
    checkBlocks(context, movement.mostBlocks);
}

} // namespace

Pass createSynchronisePass() {
  return {.needs = Placed | Cut, .provides = Scheduled, .run = synchronise};
}

} // namespace mscclc::passes
