#include "passes/schedule/candidates.h"

#include "passes/pass_manager.h"
#include "passes/residency.h"
#include "passes/schedule/least_blocks.h"
#include "passes/schedule/synchronise.h"
#include "passes/time/estimate.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace mscclc::passes::schedule {
namespace {

/// `machine` with room for `program`: what it has too little of is timed on one that has more of the same.
time::Machine roomFor(const ir::Program &program, time::Machine machine) {
  const std::uint32_t ranksPerNode = program.movement.ranksPerNode;
  const std::uint32_t together = ranksPerNode != 0 ? ranksPerNode : static_cast<std::uint32_t>(program.ranks.size());
  machine.gpusPerNode = std::max(machine.gpusPerNode, together);
  machine.nodes = std::max(machine.nodes, time::namedNodes(program));
  return machine;
}

/// Thread blocks that a rank may have.
std::uint64_t mostHeld(const ir::Program &program, const Goal &goal) {
  const std::uint64_t most = residentBlocks(program, goal.machine.gpu(), time::limitsOf(goal.runner));
  return program.movement.mostBlocks != 0 ? std::min<std::uint64_t>(most, program.movement.mostBlocks) : most;
}

/// Drops what nothing asks for again: of large programs that is large.
void tidyUp(Passed &passed) {
  passed.analyses = {};
  if (passed.isRefused)
    passed.program = {};
}

} // namespace

Candidates::Candidates(const ir::Program &program, const Goal &goal)
    : program_(program), goal_(goal), machine_(roomFor(program, goal.machine)), mostHeld_(mostHeld(program, goal)) {}

void apply(const Open &open, ir::Program &program) {
  program.protocol = open.protocol;
  program.instances = open.instances;
  program.movement.pull = open.pull;
  program.movement.throughSwitch = open.throughSwitch;
  program.movement.blocks = open.blocks;
  program.movement.step = open.step;
  program.movement.stages = open.step != 0;
  program.movement.relayBlocks = open.relayBlocks;
}

std::optional<std::size_t> Candidates::find(const Open &open) const {
  const auto found = std::ranges::find(tried_, open, &Candidate::open);
  return found == tried_.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - tried_.begin()));
}

const Candidate &Candidates::tryOut(const Open &open, bool isOnly) {
  stages_.emplace_back();
  tried_.push_back({.open = open, .refused = true});
  time(tried_.back(), stages_.back(), isOnly);
  return tried_.back();
}

bool Candidates::complete(std::size_t candidate) {
  Stage &stage = stages_[candidate];
  if (!stage.passed || !stage.passed->program.folded)
    return true;
  const Open &open = tried_[candidate].open;
  auto passed = std::make_shared<Passed>(stage.placed->passed);
  apply(open, passed->program);
  run(goal_.dealing, *passed);
  scheduleDealt(stage, *passed, false);
  tidyUp(*passed);
  stage.passed = std::move(passed);
  if (!stage.isStuck() && !isTooLong(stage)) {
    Passed whole{stage.passed->program, stage.passed->holds};
    whole.program.instances = open.instances;
    if (isTaken(whole, open, stage))
      return true;
  }
  tried_[candidate].refused = true;
  return false;
}

std::optional<Candidate> Candidates::finish(std::size_t candidate) const {
  const Open &open = tried_[candidate].open;
  const std::shared_ptr<Passed> &passed = stages_[candidate].passed;
  Passed whole{passed->program, passed->holds};
  if (!run(goal_.pruning, whole))
    return std::nullopt;
  whole.program.instances = open.instances;
  Stage stage;
  if (!isTaken(whole, open, stage))
    return std::nullopt;
  Candidate finished{.open = open};
  takeFigures(finished, whole.program);
  return finished;
}

/// False if a pass refuses the program.
bool Candidates::run(std::string_view list, Passed &passed, bool mayFold) const {
  PassManagerOptions options;
  options.target = goal_.target;
  PassManager passes(std::move(options), passed.holds);
  passes.use("synchronise", createSynchronisePass(mayFold));
  passes.use("prune-sync", goal_.prune);
  ir::DiagnosticEngine silent;
  PassRun result{.ok = passes.add(list).empty(), .records = {}};
  if (result.ok)
    result = passes.run(passed.program, silent, passed.analyses);
  passed.holds = passes.heldAtEnd();
  passed.isRefused = !result.ok;
  passed.warns |= silent.numWarnings() != 0;
  std::ranges::move(result.records, std::back_inserter(passed.done));
  return result.ok;
}

/// Another candidate that is the same as the last one after Goal::tidying; null if none is known. One that it
/// refused has as many instances: others may be too many. `alike`: so has any, and comes out the same.
const Candidate *Candidates::sameAsLast(bool alike) const {
  const Candidate &last = tried_.back();
  for (std::size_t i = 0; i + 1 < tried_.size(); ++i) {
    const Stage &stage = stages_[i];
    Open other = tried_[i].open;
    if (stage.isStuck() ? other.instances != last.open.instances : !stage.isScheduled())
      continue;
    if (!alike)
      other.instances = last.open.instances;
    if (!stage.lacksChannels && !other.relayBlocks) // it would have no relays
      other.relayBlocks = last.open.relayBlocks;
    if (arePlacedAlike(stages_.back(), stage)) {
      other.pull = last.open.pull;
      other.throughSwitch = last.open.throughSwitch;
      const std::shared_ptr<const Dealt> &dealt = stages_.back().dealt;
      if (dealt && stage.dealt && *dealt == *stage.dealt)
        other.blocks = last.open.blocks;
    }
    if (other == last.open)
      return &tried_[i];
  }
  return nullptr;
}

/// Takes over what is known of another candidate that comes out the same as the last one. False if there is none.
bool Candidates::takeOver(Stage &last) const {
  const Candidate *same = sameAsLast();
  if (same)
    last = stages_[static_cast<std::size_t>(same - tried_.data())];
  return same != nullptr;
}

/// Takes the candidate through Goal::placing. Of what is open, this reads the protocol, pull, throughSwitch, and
/// whether there is a step.
Passed Candidates::place(const Open &open, Stage &stage, bool isOnly) {
  for (const auto &placed : placed_)
    if (placed->open.protocol == open.protocol && (placed->open.pull == open.pull || placed->isAnySide()) &&
        placed->open.throughSwitch == open.throughSwitch && (placed->open.step != 0) == (open.step != 0)) {
      stage.placed = placed;
      return placed->passed;
    }
  Passed passed{program_, propertiesOf(program_)};
  apply(open, passed.program);
  run(goal_.placing, passed);
  if (!isOnly || goal_.target.executor) // which may refuse it
    stage.placed = placed_.emplace_back(std::make_shared<const Placed>(open, passed));
  return passed;
}

/// True if the target refuses what is dealt out, however it is scheduled, or a GPU does not hold it.
bool Candidates::isTooMuch(const Open &open, const LeastBlocks &least, Excess &excess) const {
  if (least.blocks * open.instances > mostHeld_)
    return true;
  if (!goal_.target.executor || least.operations <= goal_.target.executor->opsPerBlock)
    return false;
  excess = {static_cast<double>(least.operations) / goal_.target.executor->opsPerBlock, least.blocks};
  return true;
}

/// True if the target is likely to refuse it, as blocks with many operations mostly have many channels as well. That is
/// cheaper to find out for one rank.
bool Candidates::isLikelyRefused(const LeastBlocks &least) const {
  constexpr std::uint64_t few = 8; // a part of what a block may have
  return goal_.target.executor && least.operations > goal_.target.executor->opsPerBlock / few;
}

/// Of a candidate that is refused as thread blocks.
void Candidates::measure(const ir::Program &program, std::uint32_t instances, Stage &stage) const {
  if (!goal_.target.executor)
    return;
  stage.excess = excessOf(program, *goal_.target.executor, instances);
  stage.isMeasured = true;
}

/// True if a block has more channels of a type than the target takes: none of the passes that follow drops any.
bool Candidates::hasTooManyChannels(const ir::Program &program) const {
  const auto isTooMany = [&](const ir::ThreadBlock &block, ir::ChannelType type) {
    return std::cmp_greater(std::ranges::count(block.channels, type, &ir::ResourceUse::type),
                            goal_.target.executor->channelsPerBlock);
  };
  return goal_.target.executor && std::ranges::any_of(program.ranks, [&](const ir::Rank &rank) {
           return std::ranges::any_of(rank.blocks, [&](const ir::ThreadBlock &block) {
             return isTooMany(block, ir::ChannelType::Memory) || isTooMany(block, ir::ChannelType::Port) ||
                    isTooMany(block, ir::ChannelType::Switch);
           });
         });
}

/// Takes what is dealt out to blocks through Goal::scheduling and tidying.
void Candidates::scheduleDealt(Stage &stage, Passed &passed, bool mayFold) const {
  if (!run(goal_.scheduling, passed, mayFold))
    return;
  stage.lacksChannels = passed.isRefused = hasTooManyChannels(passed.program);
  if (passed.isRefused)
    measure(passed.program, 1, stage);
  else
    run(goal_.tidying, passed);
}

/// Takes the last candidate through Goal::placing, dealing, scheduling and tidying. False if it is refused.
bool Candidates::schedule(const Open &open, Stage &stage, bool isOnly) {
  if (takeOver(stage))
    return !stage.isStuck();
  auto passed = std::make_shared<Passed>(place(open, stage, isOnly));
  if (takeOver(stage))
    return !stage.isStuck();
  if (!passed->isRefused) {
    apply(open, passed->program);
    if (run(goal_.dealing, *passed)) {
      const LeastBlocks least = leastBlocks(passed->program, passed->analyses);
      passed->isRefused = isTooMuch(open, least, stage.excess);
      if (!passed->isRefused) {
        auto dealt = std::make_shared<Dealt>();
        std::ranges::transform(passed->program.movement.statements, std::back_inserter(*dealt), &ir::Move::block);
        stage.dealt = std::move(dealt);
        if (takeOver(stage))
          return !stage.isStuck();
        // Of a machine that is a mesh, not all ranks that are as far away are as near.
        scheduleDealt(stage, *passed, !machine_.mesh && (!isOnly || isLikelyRefused(least)));
      }
    }
  }
  tidyUp(*passed);
  stage.passed = std::move(passed);
  return !stage.isStuck();
}

/// True if some block has too many operations once Goal::tidying is over; then nothing is kept but by how much.
bool Candidates::isTooLong(Stage &stage) const {
  measure(stage.passed->program, 1, stage);
  if (stage.excess.times > 1) {
    stage.passed->isTooLong = true;
    stage.passed->program = {};
  }
  return stage.passed->isTooLong;
}

/// Takes a program through Goal::rest. False if it is refused, or the machine or a GPU does not take it.
bool Candidates::isTaken(Passed &passed, const Open &open, Stage &stage) const {
  const auto isHeld = [&] {
    return std::ranges::all_of(passed.program.ranks, [&](const ir::Rank &rank) {
      return std::uint64_t{rank.blocks.size()} * passed.program.instances <= mostHeld_;
    });
  };
  // Before instances are made, which may be very many blocks.
  if (passed.program.movement.statements.empty() && (!isHeld() || time::cannotRun(passed.program, machine_)))
    return false;
  if (!run(goal_.rest, passed)) {
    measure(passed.program, open.instances, stage);
    return false;
  }
  // Stages, and what an executor's limits ask for, make more blocks than were asked for.
  return isHeld() && !time::cannotRun(passed.program, machine_);
}

/// Finds out how good the last candidate is.
void Candidates::time(Candidate &candidate, Stage &stage, bool isOnly) {
  const Open open = candidate.open; // `candidate` may take over all figures of another
  Passed passed;
  if (!goal_.placing.empty()) {
    if (!schedule(open, stage, isOnly))
      return;
    if (const Candidate *same = sameAsLast(true)) {
      candidate = *same;
      candidate.open = open;
      return;
    }
    if (stage.passed->isTooLong || isTooLong(stage))
      return;
    passed.program = stage.passed->program;
    passed.holds = stage.passed->holds;
    passed.program.instances = open.instances;
  } else {
    passed.program = program_;
    apply(open, passed.program);
    passed.holds = propertiesOf(passed.program);
  }
  if (!isTaken(passed, open, stage))
    return;
  candidate.refused = false;
  if (isOnly)
    return;
  takeFigures(candidate, passed.program);
}

/// How good a candidate is that has become `program`.
void Candidates::takeFigures(Candidate &candidate, const ir::Program &program) const {
  const time::LaunchFigures figures = time::launchFigures(program, machine_, goal_.runner, goal_.messageBytes,
                                                          {.instances = candidate.open.instances, .ranks = true});
  candidate.nanoseconds = figures.total;
  candidate.linkBytes = figures.linkBytes;
  for (const ir::Rank &rank : program.ranks) {
    candidate.threadBlocks += rank.blocks.size();
    for (const ir::ThreadBlock &block : rank.blocks)
      for (const ir::Op &op : block.ops) {
        const ir::EffectInfo effect = ir::info(ir::info(op.kind).effect);
        candidate.syncs += op.kind == ir::OpKind::Barrier ? 1 : effect.sends() || effect.takes() ? op.numIds : 0;
      }
  }
  if (program.folded) {
    candidate.threadBlocks *= program.ranks.size();
    candidate.syncs *= program.ranks.size();
  }
}

} // namespace mscclc::passes::schedule
