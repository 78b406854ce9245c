#include "passes/schedule/synchronise.h"

#include "ir/program_index.h"
#include "passes/schedule/block_needs.h"
#include "passes/schedule/block_writer.h"
#include "passes/schedule/nodes.h"
#include "passes/schedule/schedule_diagnostics.h"
#include "passes/schedule/statement_distances.h"
#include "passes/schedule/statement_symmetry.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace mscclc::passes {
namespace {

/// Returns the number of channels of one type in the blocks of `rank`, for the type with more of them.
std::uint64_t channelsOf(const ir::Rank &rank) {
  std::uint64_t memory = 0, port = 0;
  for (const ir::ThreadBlock &block : rank.blocks)
    for (const ir::ResourceUse &channel : block.channels)
      ++(channel.type == ir::ChannelType::Memory ? memory : port);
  return std::max(memory, port);
}

/// Reports the first rank that has more blocks than the program allows. Instances need more blocks, and so do the
/// limits of an executor. For these limits, `cut` splits the statements of `movement` by their needs, blocks that only
/// receive are split by the blocks that send to them, and relays take some channels of blocks with many syncs.
void checkBlocks(const ir::Program &program, const ir::Movement &movement, const schedule::SyncPlan &plan,
                 const schedule::StatementGraph &graph, const schedule::StatementSymmetry &symmetry,
                 const Target &target, ir::DiagnosticEngine &diags) {
  const auto isTooMany = [&](const ir::Rank &one) {
    return movement.mostBlocks != 0 && one.blocks.size() * program.instances > movement.mostBlocks;
  };
  const auto rank = std::ranges::find_if(program.ranks, isTooMany);
  if (rank == program.ranks.end())
    return;
  const auto r = static_cast<std::uint32_t>(rank - program.ranks.begin());
  const ir::Where where(rank->blocks.back().ops[0].loc, "rank " + std::to_string(r));
  const bool instances = program.instances > 1;
  const std::string each = instances ? " in each of " + std::to_string(program.instances) + " instances" : "";
  ir::DiagBuilder report = diags.report(schedule::diag::blocks_not_allowed, where,
                                        {r, ir::plural(rank->blocks.size(), "thread block"), each, movement.mostBlocks,
                                         instances ? ", or take fewer instances" : ""});
  if (!target.executor)
    return;
  const ExecutorLimits &limits = *target.executor;
  const schedule::StatementNeeds needs(movement, program.ranks.size(), graph, symmetry.withBlocks(movement));
  const schedule::BlockNeeds whole = needs.ofRank(movement, r);
  const bool isSharedOut = !plan.nodes->sharedOutTo(r).empty() || plan.nodes->numRelays() != 0;
  if (whole.fits(limits) && !isSharedOut)
    return;
  const std::uint64_t channels = std::max<std::uint64_t>(whole.channels(), isSharedOut ? channelsOf(*rank) : 0);
  const auto blocksOf = [](std::uint64_t entries, std::uint64_t ofBlock) { return (entries + ofBlock - 1) / ofBlock; };
  const std::uint64_t least =
      std::max(blocksOf(channels, limits.channelsPerBlock), blocksOf(whole.remoteBuffers(), limits.remotesPerBlock));
  const std::string takes = least * program.instances > movement.mostBlocks
                                ? "takes at least " + std::to_string(least)
                                : "is split into " + std::to_string(rank->blocks.size());
  report.note(schedule::diag::blocks_of_executor, where,
              {target.name(), limits.channelsPerBlock, limits.remotesPerBlock, r, channels, whole.remoteBuffers(),
               takes + each});
}

std::uint32_t mostPeers(const Target &target) {
  return target.executor ? target.executor->channelsPerBlock : ir::none;
}

/// The results of synchronisation besides thread blocks.
struct Written {
  std::uint64_t edges = 0;
  OtherEnds otherEnds = {}; ///< for a plan of one rank
};

/// Replaces the statements by the thread blocks of `plan`. `analyses` belong to the statements.
Written write(ir::Program &program, const schedule::SyncPlan &plan, Analyses &analyses, const Target &target,
              ir::DiagnosticEngine &diags) {
  const auto &distances = analyses.of<schedule::StatementDistances>(program);
  const auto &graph = analyses.of<schedule::StatementGraph>(program);
  const auto &symmetry = analyses.of<schedule::StatementSymmetry>(program);
  const ir::Movement movement = std::exchange(program.movement, {});
  program.movement.ranksPerNode = movement.ranksPerNode; // thread blocks run on the same nodes
  program.movement.accumulate = movement.accumulate;
  if (ir::isFixed(movement.order)) // later passes keep the order of sums, and the proof needs it
    program.movement.order = movement.order;
  const schedule::Channels channels(program, movement, plan, distances.ranks());
  schedule::BlockWriter writer(program, movement, plan, channels);
  Written written;
  std::vector<schedule::Group> room;
  for (std::uint32_t agent = 0; agent < plan.agents.size(); ++agent) {
    const std::vector<schedule::Group> &groups = plan.groupsOf(agent, room);
    writer.write(agent, groups);
    for (const schedule::Group &group : groups)
      written.edges += group.waits.size();
  }
  // A rank may have block numbers for a stage in which it has no statements. Blocks without operations would be
  // launched, too, so they are removed.
  for (ir::Rank &rank : program.ranks)
    std::erase_if(rank.blocks, [](const ir::ThreadBlock &block) { return block.ops.empty(); });
  if (plan.isOneRank)
    written.otherEnds = channels.otherEnds(program.ranks[0]);
  checkBlocks(program, movement, plan, graph, symmetry, target, diags);
  return written;
}

void synchronise(PassContext &context) {
  ir::Program &program = context.program;
  if (program.movement.statements.empty())
    return;
  const schedule::SyncPlan plan = schedule::planSync(program, context.analyses, mostPeers(context.target));
  context.stats.count("edges", write(program, plan, context.analyses, context.target, context.diags).edges);
}

} // namespace

std::optional<RepresentativeRank> synchroniseOneRank(ir::Program &program, Analyses &analyses, const Target &target,
                                                     ir::DiagnosticEngine &diags) {
  // The comparison of ranks does not cover statements through a switch.
  const auto isInSwitch = [](const ir::Move &statement) { return statement.via == ir::Via::Switch; };
  if (!analyses.of<schedule::StatementSymmetry>(program).holds() ||
      std::ranges::any_of(program.movement.statements, isInSwitch))
    return std::nullopt;
  const std::optional<schedule::SyncPlan> plan = schedule::planOneRank(program, analyses, mostPeers(target));
  if (!plan)
    return std::nullopt;
  OtherEnds otherEnds = write(program, *plan, analyses, target, diags).otherEnds;
  return RepresentativeRank(std::move(program), std::move(otherEnds));
}

Pass createSynchronisePass() {
  return {.needs = Placed | Cut,
          .provides = Scheduled,
          .isProvided = [](const ir::Program &program) { return program.movement.statements.empty(); },
          .run = synchronise};
}

} // namespace mscclc::passes
