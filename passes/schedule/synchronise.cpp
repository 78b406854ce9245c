#include "passes/schedule/synchronise.h"

#include "ir/program_index.h"
#include "passes/schedule/block_writer.h"
#include "passes/schedule/schedule_diagnostics.h"
#include "passes/schedule/statement_orbits.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace mscclc::passes {
namespace {

/// Ranks among `peers`, which has each once for each channel.
std::uint64_t numOf(const std::vector<std::uint32_t> &peers) {
  return std::set(peers.begin(), peers.end()).size();
}

/// Reports the first rank that has more blocks than the program allows: an executor's limits ask for more, or the
/// instances do, or what reaches the rank does.
void checkBlocks(const PassContext &context, std::uint32_t most) {
  const ir::Program &program = context.program;
  for (std::size_t r = 0; r < program.ranks.size(); ++r) {
    const ir::Rank &rank = program.ranks[r];
    const std::size_t blocks = rank.blocks.size();
    if (blocks * program.instances <= most)
      continue;
    const ir::Where where(rank.blocks.back().ops[0].loc, "rank " + std::to_string(r));
    const bool instances = program.instances > 1;
    const std::string each = instances ? " in each of " + std::to_string(program.instances) + " instances" : "";
    ir::DiagBuilder report = context.diags.report(
        schedule::diag::blocks_not_allowed, where,
        {r, ir::plural(blocks, "thread block"), each, most, instances ? ", or take fewer instances" : ""});
    if (!context.target.executor)
      return;
    const std::uint64_t peers = std::max(numOf(rank.memoryPeers), numOf(rank.portPeers));
    const std::uint64_t ofBlock = context.target.executor->channelsPerBlock, least = (peers + ofBlock - 1) / ofBlock;
    if (least > 1 && least * program.instances > most)
      report.note(schedule::diag::blocks_of_executor, where, {context.target.name(), ofBlock, r, peers, least, each});
    return;
  }
}

/// Whether rank 0 can stand for all ranks. What goes through a switch is not compared.
bool canFold(const ir::Program &program, Analyses &analyses) {
  return analyses.of<schedule::StatementOrbits>(program).areRanksAlike() &&
         std::ranges::none_of(program.movement.statements,
                              [](const ir::Move &statement) { return statement.via == ir::Via::Switch; });
}

void synchronise(PassContext &context) {
  ir::Program &program = context.program;
  if (program.movement.statements.empty())
    return;
  const auto &distances = context.analyses.of<schedule::StatementDistances>(program);
  const bool mayFold = context.mayFold && canFold(program, context.analyses);
  const std::uint32_t mostPeers = context.target.executor ? context.target.executor->channelsPerBlock : ir::none;
  const schedule::SyncPlan plan = schedule::planSync(program, context.analyses, mostPeers, mayFold);
  const ir::Movement movement = std::exchange(program.movement, {});
  program.movement.ranksPerNode = movement.ranksPerNode; // thread blocks run on the same nodes
  const schedule::Channels channels(program, movement, plan, distances.ranks());
  schedule::BlockWriter writer(program, movement, plan, channels);
  std::uint64_t edges = 0;
  std::vector<schedule::Group> room;
  for (std::uint32_t agent = 0; agent < plan.agents.size(); ++agent) {
    const std::vector<schedule::Group> &groups = plan.groupsOf(agent, room);
    writer.write(agent, groups);
    for (const schedule::Group &group : groups)
      edges += group.waits.size();
  }
  // A number may be one of a stage that the rank has no part in: a block without operations would be launched for it.
  for (ir::Rank &rank : program.ranks)
    std::erase_if(rank.blocks, [](const ir::ThreadBlock &block) { return block.ops.empty(); });
  context.stats.count("edges", edges);
  if (plan.isFolded)
    program.folded = channels.folded(program.ranks[0]);
  if (movement.mostBlocks != 0)
    checkBlocks(context, movement.mostBlocks);
}

} // namespace

Pass createSynchronisePass() {
  return {.needs = Placed | Cut, .provides = Scheduled, .run = synchronise};
}

} // namespace mscclc::passes
