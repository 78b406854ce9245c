#include "passes/schedule/candidates.h"

#include "ir/op_semantics.h"
#include "passes/pass_manager.h"
#include "passes/residency.h"
#include "passes/schedule/least_blocks.h"
#include "passes/schedule/synchronise.h"
#include "passes/time/unmeasured.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace mscclc::passes::schedule {
namespace {

/// Returns `machine` with enough GPUs and nodes for `program`. A program that is too large is timed on such a machine.
time::Machine roomFor(const ir::Program &program, time::Machine machine) {
  const std::uint32_t ranksPerNode = program.movement.ranksPerNode;
  const std::uint32_t together = ranksPerNode != 0 ? ranksPerNode : static_cast<std::uint32_t>(program.ranks.size());
  machine.gpusPerNode = std::max(machine.gpusPerNode, together);
  machine.nodes = std::max(machine.nodes, time::namedNodes(program));
  return machine;
}

/// Returns the most thread blocks that a rank may have.
std::uint64_t mostHeld(const ir::Program &program, const ChooseOptions &options) {
  const std::uint64_t most = residentBlocks(program, options.machine.gpu(), time::limitsOf(options.runner));
  return program.movement.mostBlocks != 0 ? std::min<std::uint64_t>(most, program.movement.mostBlocks) : most;
}

} // namespace

Candidates::Candidates(const ir::Program &program, const ChooseOptions &options)
    : program_(program), options_(options), machine_(roomFor(program, options.machine)),
      mostHeld_(mostHeld(program, options)) {}

void apply(const ScheduleChoices &choices, ir::Program &program) {
  program.protocol = choices.protocol;
  program.instances = choices.instances;
  program.movement.pull = choices.pull;
  program.movement.throughSwitch = choices.throughSwitch;
  program.movement.blocks = choices.blocks;
  program.movement.step = choices.step;
  program.movement.stages = choices.step != 0;
  program.movement.relayBlocks = choices.relayBlocks;
}

std::optional<std::size_t> Candidates::find(const ScheduleChoices &choices) const {
  const auto found = std::ranges::find(tried_, choices, &Candidate::choices);
  return found == tried_.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - tried_.begin()));
}

const Candidate &Candidates::tryOut(const ScheduleChoices &choices, const Expected &expected) {
  Way &way = ways_.emplace_back();
  Candidate &candidate = tried_.emplace_back(Candidate{.choices = choices, .refused = true});
  if (schedule(candidate, way, expected)) {
    const PassedProgram &scheduled = way.scheduled->passed;
    candidate = made_
                    .of(Part::Take, way.scheduled, choices,
                        [&](const ScheduleChoices &read) {
                          return take({scheduled.program, scheduled.holds, scheduled.one}, read,
                                      expected.isOnly && !(expected.unlessOneRank && scheduled.one));
                        })
                    ->figures;
    candidate.choices = choices;
  }
  return candidate;
}

void Candidates::weigh(std::size_t candidate) {
  Candidate &one = tried_[candidate];
  const std::shared_ptr<Made> scheduled = ways_[candidate].scheduled;
  if (one.refused || one.nanoseconds == 0 || one.restsOn || !scheduled)
    return;
  one.restsOn.emplace();
  PassedProgram passed{scheduled->passed.program, scheduled->passed.holds, scheduled->passed.one};
  passed.setInstances(one.choices.instances);
  if (machine_.unmeasured.any() && run(Stage::Fit, Stage::Fit, passed))
    one.restsOn = time::restsOn(machine_, one.nanoseconds, [&](const time::Machine &machine) {
      return figuresOn(machine, passed, one.choices.instances).total;
    });
}

bool Candidates::complete(std::size_t candidate) {
  Way &way = ways_[candidate];
  if (!way.scheduled || !way.scheduled->passed.one)
    return true;
  const ScheduleChoices &choices = tried_[candidate].choices;
  way.scheduled = std::make_shared<Made>(schedule(deal(choices, way.placed->passed).passed, false));
  const PassedProgram &whole = way.scheduled->passed;
  if (!whole.isRefused && !take({whole.program, whole.holds}, choices, true).figures.refused)
    return true;
  tried_[candidate].refused = true;
  return false;
}

std::optional<Candidate> Candidates::finish(std::size_t candidate) const {
  const ScheduleChoices &choices = tried_[candidate].choices;
  const PassedProgram &passed = ways_[candidate].scheduled->passed;
  PassedProgram whole{passed.program, passed.holds};
  if (!run(Stage::Prune, Stage::Prune, whole))
    return std::nullopt;
  Candidate finished = take(std::move(whole), choices, false).figures;
  finished.restsOn = tried_[candidate].restsOn;
  return finished.refused ? std::nullopt : std::optional(finished);
}

void Candidates::finishRefused(std::size_t candidate) {
  PassedProgram whole{program_, propertiesOf(program_)};
  apply(tried_[candidate].choices, whole.program);
  if (run(Stage::Place, Stage::Prune, whole))
    tried_[candidate] = take(std::move(whole), tried_[candidate].choices, false).figures;
}

/// Runs the passes of the stages `from` to `to`. Returns false if a pass refuses the program.
bool Candidates::run(Stage from, Stage to, PassedProgram &passed) const {
  PassManagerOptions ofManager;
  ofManager.target = options_.target;
  PassManager passes(std::move(ofManager), passed.holds);
  if (options_.prune.run)
    passes.use("prune-sync", options_.prune);
  ir::DiagnosticEngine silent;
  PassRun result{.ok = passes.add(pipeline(maxOptLevel, from, to)).empty(), .records = {}};
  if (result.ok)
    result = passed.one ? passes.run(*passed.one, silent) : passes.run(passed.program, silent, passed.analyses);
  passed.holds = passes.heldAtEnd();
  passed.isRefused = !result.ok;
  passed.warns |= silent.numWarnings() != 0;
  std::ranges::move(result.records, std::back_inserter(passed.done));
  return result.ok;
}

Made Candidates::place(const ScheduleChoices &read) const {
  Made made{.passed = {program_, propertiesOf(program_)}};
  apply(read, made.passed.program);
  run(Stage::Place, Stage::Place, made.passed);
  return made;
}

Made Candidates::deal(const ScheduleChoices &read, PassedProgram placed) const {
  Made made{.passed = std::move(placed)};
  apply(read, made.passed.program);
  if (made.passed.isRefused || !run(Stage::Deal, Stage::Deal, made.passed))
    return made;
  made.least = leastBlocks(made.passed.program, made.passed.analyses);
  std::ranges::transform(made.passed.program.movement.statements, std::back_inserter(made.blocks), &ir::Move::block);
  return made;
}

/// True if the target refuses these blocks whatever their schedule is, or if a GPU does not hold them.
bool Candidates::isTooMuch(const LeastBlocks &least, Candidate &candidate) const {
  if (least.blocks * candidate.choices.instances > mostHeld_)
    return true;
  if (!options_.target.executor || least.operations <= options_.target.executor->opsPerBlock)
    return false;
  candidate.excess = {static_cast<double>(least.operations) / options_.target.executor->opsPerBlock, least.blocks};
  return true;
}

/// True if the target probably refuses these blocks: a block with so many operations mostly has too many channels. It
/// is enough to schedule one rank to find out whether the target refuses them.
bool Candidates::isLikelyRefused(const LeastBlocks &least) const {
  constexpr std::uint64_t few = 8; // an eighth of the operations that a block may have counts as few
  return options_.target.executor && least.operations > options_.target.executor->opsPerBlock / few;
}

/// Measures by how much thread blocks exceed the limits of the target.
void Candidates::measure(const PassedProgram &passed, std::uint32_t instances, Made &made) const {
  if (options_.target.executor)
    made.figures.excess = excessOf(passed.ranks(), *options_.target.executor, instances);
}

/// True if a block has more channels of a type than the target takes. No later pass drops channels.
bool Candidates::hasTooManyChannels(std::span<const ir::Rank> ranks) const {
  const auto isTooMany = [&](const ir::ThreadBlock &block, ir::ChannelType type) {
    return std::cmp_greater(std::ranges::count(block.channels, type, &ir::ResourceUse::type),
                            options_.target.executor->channelsPerBlock);
  };
  return options_.target.executor && std::ranges::any_of(ranks, [&](const ir::Rank &rank) {
           return std::ranges::any_of(rank.blocks, [&](const ir::ThreadBlock &block) {
             return isTooMany(block, ir::ChannelType::Memory) || isTooMany(block, ir::ChannelType::Port) ||
                    isTooMany(block, ir::ChannelType::Switch);
           });
         });
}

/// Runs Stage::Synchronise for one rank. Returns false if the ranks are not equivalent.
bool Candidates::synchroniseOne(PassedProgram &passed) const {
  ir::DiagnosticEngine silent;
  passed.one = synchroniseOneRank(passed.program, passed.analyses, options_.target, silent);
  if (!passed.one)
    return false;
  passed.holds |= Scheduled;
  passed.isRefused = silent.numErrors() != 0;
  return true;
}

/// Runs Part::Schedule on statements that have their blocks. A refused program may be large, so only its excess is
/// kept. `mayBeOne`: if all ranks are equivalent, plans only rank 0. `mustBeOne`: refuses the program if its ranks are
/// not equivalent.
Made Candidates::schedule(PassedProgram dealt, bool mayBeOne, bool mustBeOne) const {
  Made made{.passed = std::move(dealt)};
  PassedProgram &passed = made.passed;
  if (run(Stage::Schedule, Stage::Schedule, passed) && (!mayBeOne || !synchroniseOne(passed))) {
    if (mustBeOne)
      passed.isRefused = true;
    else
      run(Stage::Synchronise, Stage::Synchronise, passed);
  }
  if (!passed.isRefused) {
    made.figures.lacksChannels = passed.isRefused = hasTooManyChannels(passed.ranks());
    if (passed.isRefused || run(Stage::Tidy, Stage::Tidy, passed))
      measure(passed, 1, made);
    passed.isRefused |= made.figures.excess.times > 1;
  }
  passed.analyses = {};
  if (passed.isRefused) {
    passed.program = {};
    passed.one.reset();
  }
  return made;
}

/// Runs the parts up to Part::Schedule on a candidate. Returns false if it is refused.
bool Candidates::schedule(Candidate &candidate, Way &way, const Expected &expected) {
  const ScheduleChoices &choices = candidate.choices;
  const bool isTimed = !expected.isOnly || expected.unlessOneRank;
  const bool isLast = !isTimed && !options_.target.executor; // only an executor could refuse the candidate
  way.placed = made_.of(Part::Place, nullptr, choices, [&](const ScheduleChoices &read) { return place(read); });
  const std::shared_ptr<Made> dealt = made_.of(Part::Deal, way.placed, choices, [&](const ScheduleChoices &read) {
    return deal(read, isLast ? std::move(way.placed->passed) : way.placed->passed);
  });
  if (dealt->passed.isRefused || isTooMuch(dealt->least, candidate))
    return false;
  const auto scheduled = [&](const ScheduleChoices &choices) {
    return made_.of(Part::Schedule, dealt, choices, [&](const ScheduleChoices &read) {
      // Scheduling without relay blocks consumes the program in `dealt`. So before scheduling with relay blocks,
      // Part::Deal runs again.
      PassedProgram passed = read.relayBlocks ? deal(choices, way.placed->passed).passed : std::move(dealt->passed);
      apply(read, passed.program);
      // On an uneven machine, pairs of ranks with equal differences of rank numbers may be different distances apart.
      return schedule(std::move(passed), !machine_.isUneven() && (isTimed || isLikelyRefused(dealt->least)),
                      expected.mustBeOneRank);
    });
  };
  ScheduleChoices plain = choices;
  plain.relayBlocks = false;
  way.scheduled = scheduled(plain);
  if (choices.relayBlocks && way.scheduled->figures.lacksChannels)
    way.scheduled = scheduled(choices);
  candidate.excess = way.scheduled->figures.excess;
  candidate.lacksChannels = way.scheduled->figures.lacksChannels;
  return !way.scheduled->passed.isRefused;
}

/// Runs Part::Take on a program. Also refuses the program if the machine cannot run it or if a GPU does not hold its
/// blocks. `isOnly`: the program is not timed.
Made Candidates::take(PassedProgram passed, const ScheduleChoices &choices, bool isOnly) const {
  const ir::Program &launch = passed.launch();
  passed.setInstances(choices.instances);
  Made made{.figures = {.choices = choices, .refused = true}};
  const auto isHeld = [&] {
    return std::ranges::all_of(passed.ranks(), [&](const ir::Rank &rank) {
      return std::uint64_t{rank.blocks.size()} * launch.instances <= mostHeld_;
    });
  };
  // This check comes before instances are made, because these may have very many blocks.
  if (launch.movement.statements.empty() && (!isHeld() || time::cannotRun(launch, machine_)))
    return made;
  if (!run(Stage::Fit, Stage::Fit, passed)) {
    measure(passed, choices.instances, made);
    return made;
  }
  // Stages of pipelines and splits for an executor's limits make more blocks than the choices ask for.
  made.figures.refused = !isHeld() || time::cannotRun(launch, machine_);
  if (!made.figures.refused && !isOnly)
    takeFigures(made.figures, passed);
  return made;
}

time::LaunchFigures Candidates::figuresOn(const time::Machine &machine, const PassedProgram &passed,
                                          std::uint32_t instances) const {
  return passed.one ? time::launchFigures(*passed.one, machine, options_.runner, options_.messageBytes, instances)
                    : time::launchFigures(passed.program, machine, options_.runner, options_.messageBytes,
                                          {.instances = instances, .ranks = true});
}

/// Sets the figures of a candidate from its program, `passed`.
void Candidates::takeFigures(Candidate &candidate, const PassedProgram &passed) const {
  const time::LaunchFigures figures = figuresOn(machine_, passed, candidate.choices.instances);
  candidate.nanoseconds = figures.total;
  candidate.linkBytes = figures.linkBytes;
  const std::span<const ir::Rank> ranks = passed.ranks();
  for (const ir::Rank &rank : ranks)
    candidate.threadBlocks += rank.blocks.size();
  for (const ir::Op &op : ir::opsOf(ranks))
    candidate.syncs += op.kind == ir::OpKind::Barrier ? 1 : ir::sends(op.kind) || ir::takes(op.kind) ? op.numIds : 0;
  if (passed.one) {
    candidate.threadBlocks *= passed.one->numRanks();
    candidate.syncs *= passed.one->numRanks();
  }
}

} // namespace mscclc::passes::schedule
