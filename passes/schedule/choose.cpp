#include "passes/schedule/choose.h"

#include "ir/collectives.h"
#include "passes/gpu_limits.h"
#include "passes/pass_manager.h"
#include "passes/schedule/block_search.h"
#include "passes/schedule/candidate_stages.h"
#include "passes/schedule/least_blocks.h"
#include "passes/schedule/through_switch.h"
#include "passes/time/estimate.h"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace mscclc::passes::schedule {
namespace {

constexpr double slack = 1.02; ///< figures of the model that are this close count as equal

/// What candidates have to come up to: the time of the fastest, and the fewest bytes of those that are as fast.
struct Mark {
  double nanoseconds = std::numeric_limits<double>::infinity();
  double linkBytes = std::numeric_limits<double>::infinity();

  explicit Mark(std::span<const Candidate> tried) {
    for (const Candidate &one : tried)
      if (!one.refused)
        nanoseconds = std::min(nanoseconds, one.nanoseconds);
    for (const Candidate &one : tried)
      if (!one.refused && isFast(one.nanoseconds))
        linkBytes = std::min(linkBytes, one.linkBytes);
  }
  bool isFast(double time) const { return time <= slack * nanoseconds; }
  bool movesLittle(double bytes) const { return bytes <= slack * linkBytes; }
};

void apply(const Open &open, ir::Program &program) {
  program.protocol = open.protocol;
  program.instances = open.instances;
  program.movement.pull = open.pull;
  program.movement.throughSwitch = open.throughSwitch;
  program.movement.blocks = open.blocks;
  program.movement.step = open.step;
  program.movement.stages = open.step != 0;
}

class Chooser {
public:
  Chooser(const ir::Program &program, const Goal &goal)
      : program_(program), goal_(goal), machine_(goal.machine),
        mostTried_(std::clamp<std::size_t>(mostStatements / sizeOf(program.movement), 1, 40)) {
    const ir::Movement &movement = program.movement;
    // A switch sums in an order of its own, and takes memory that is bound to it: users ask for both in one.
    usesSwitch_ = movement.reassociate && machine_.parameters.multimem != 0 && canUseSwitch(program);
    anyBlocks_ = std::ranges::any_of(movement.statements, [](const ir::Move &s) { return !s.block; });
    const auto ranks = static_cast<std::uint32_t>(program.ranks.size());
    // What the machine has too little room for is timed on one that has more of the same.
    const std::uint32_t together = movement.ranksPerNode != 0 ? movement.ranksPerNode : ranks;
    machine_.gpusPerNode = std::max(machine_.gpusPerNode, together);
    machine_.nodes = std::max(machine_.nodes, time::namedNodes(program));
    mayPull_ = std::ranges::any_of(movement.statements, [&](const ir::Move &s) {
      return s.kind == ir::MoveKind::Reduce && std::ranges::any_of(movement.srcs(s), [&](const ir::RankChunk &src) {
               return src.rank != movement.dsts(s)[0].rank;
             });
    });
    mostBlocks_ = movement.mostBlocks != 0 ? movement.mostBlocks : machine_.multiprocessors;
    GpuLimits gpu = h100;
    gpu.multiprocessors = machine_.multiprocessors;
    mostHeld_ = gpu.residentBlocks(program.threadsPerBlock);
    if (movement.mostBlocks != 0)
      mostHeld_ = std::min<std::uint64_t>(mostHeld_, movement.mostBlocks);
  }

  void run() {
    std::vector<ir::Protocol> protocols{program_.protocol};
    if (program_.movement.chooseProtocol) {
      protocols = {ir::Protocol::Simple};
      // Packets are twice as long: where data takes longer than its latency, they only lose. Of a large program only
      // the likelier protocol is tried: not packets where a reduction can read all its operands at once.
      const bool llFirst = goal_.messageBytes <= likelyPacketBytes && !(mostTried_ < 8 && readsMany());
      // A statement may ask for packets, which an executor takes under no other protocol.
      const bool asked = asksForPackets();
      if (goal_.messageBytes <= (time::namedNodes(program_) > 1 ? mostPacketBytesOverNodes : mostPacketBytes) || asked)
        protocols.insert(llFirst || asked ? protocols.begin() : protocols.end(), ir::Protocol::LL);
    }
    // What few blocks prefer is not what many do, so with the switch and without it all else is searched anew.
    for (const ir::Protocol protocol : protocols)
      for (const bool throughSwitch : {true, false}) {
        const Open open{.protocol = protocol, .instances = firstInstances(), .throughSwitch = throughSwitch};
        if (!throughSwitch || (mostTried_ > fewTried && mayUseSwitch(open)))
          search(open);
      }
  }

  /// What was taken, and the program as far as it is known; nothing where none was taken.
  struct Result {
    Choice choice;
    std::shared_ptr<Passed> passed; ///< null if it has not been through all of Goal::tidying
  };
  Result takeBest() {
    const Mark mark(tried_);
    const Candidate *best = nullptr;
    for (const Candidate &one : tried_)
      if (!one.refused && mark.isFast(one.nanoseconds) && mark.movesLittle(one.linkBytes) &&
          (!best || hasLessSync(one, *best)))
        best = &one;
    if (!best)
      return {};
    const Stage &stage = stages_[static_cast<std::size_t>(best - tried_.data())];
    Result result{{.open = best->open,
                   .tried = {},
                   .nanoseconds = best->nanoseconds,
                   .candidates = static_cast<std::uint32_t>(tried_.size()),
                   .refused = static_cast<std::uint32_t>(std::ranges::count(tried_, true, &Candidate::refused)),
                   .done = {}},
                  goal_.keeps && stage.isScheduled() ? stage.passed : nullptr};
    result.choice.tried = std::move(tried_);
    return result;
  }

private:
  /// Of all candidates together: scheduling and timing these takes some tens of milliseconds.
  static constexpr std::size_t mostStatements = 8192;
  static constexpr std::size_t fewTried = 5;
  static constexpr double farOff = 3; ///< of an executor's limits, what one side of reductions seldom spares
  static constexpr std::uint64_t leastStep = std::uint64_t{16} << 10; ///< bytes of a pipeline's unit
  static constexpr std::uint64_t likelyPacketBytes = std::uint64_t{256} << 10;
  static constexpr std::uint64_t mostPacketBytes = std::uint64_t{8} << 20;
  static constexpr std::uint64_t mostPacketBytesOverNodes = std::uint64_t{32} << 20; ///< plain data waits for proxies

  /// As many statements as take as long: one of many operands is like many of one.
  static std::size_t sizeOf(const ir::Movement &movement) {
    return std::max(movement.statements.size(), movement.places.size() / 4);
  }

  static bool hasLessSync(const Candidate &a, const Candidate &b) {
    return a.syncs != b.syncs ? a.syncs < b.syncs : a.threadBlocks < b.threadBlocks;
  }
  static bool isSimpler(const Candidate &a, const Candidate &b) {
    if (std::max(a.linkBytes, b.linkBytes) > slack * std::min(a.linkBytes, b.linkBytes))
      return a.linkBytes < b.linkBytes;
    return hasLessSync(a, b);
  }

  std::uint32_t firstInstances() const {
    if (!program_.movement.chooseInstances)
      return program_.instances;
    // A block moves some tens of KiB in the time that it takes to tell others.
    std::uint32_t instances = 1;
    while (instances < 8 && goal_.messageBytes / program_.ranks.size() / instances > (64u << 10))
      instances *= 2;
    return instances;
  }

  /// Tries one choice after the other, beginning with `open`.
  void search(Open open) {
    if (mostTried_ <= fewTried)
      return searchFew(open);
    for (Open other = open; const bool pull : {false, true}) {
      other.pull = pull;
      improve(open, other);
      if (!mayPull_)
        break;
    }
    const auto peers = static_cast<std::uint32_t>(program_.ranks.size()) - 1;
    for (const std::uint32_t blocks : {2u, 4u, peers})
      if (anyBlocks_ && blocks > open.blocks && blocks * open.instances <= mostBlocks_ && mayBeEnough(open, blocks)) {
        Open other = open;
        other.blocks = blocks;
        improve(open, other);
      }
    findFitting(open);
    improveInstances(open, true);
    improveInstances(open, false);
    // Some iterations keep all stages busy; short ones cost more sync than they gain.
    const std::uint64_t chunk =
        goal_.messageBytes / std::max(ir::chunksOfMessage(program_, program_.ranks[0]), 1u) / open.instances;
    // The stages of a pipeline are thread blocks of their own.
    const bool pinned =
        std::ranges::any_of(program_.movement.statements, [](const ir::Move &s) { return s.block.has_value(); });
    if (open.protocol != ir::Protocol::Simple || pinned || asksForPackets()) // which take a slot once a launch
      return;
    const auto tryPipeline = [&](std::uint64_t iterations, std::uint32_t blocks) {
      Open other = open;
      other.step = chunk / iterations / leastStep * leastStep;
      other.blocks = blocks;
      if (other.step != 0)
        improve(open, other);
    };
    // Each stage has as many blocks as were best for all, or one.
    for (const std::uint32_t blocks : std::set{open.blocks, 1u})
      for (const std::uint64_t iterations : {4, 16})
        tryPipeline(iterations, blocks);
    if (open.step != 0)
      tryPipeline(8, open.blocks);
  }

  /// Twice, or half, as many instances for as long as that is better.
  void improveInstances(Open &open, bool up) {
    if (!program_.movement.chooseInstances)
      return;
    for (Open other = open;;) {
      other.instances = up ? other.instances * 2 : other.instances / 2;
      if (other.instances == 0 || other.instances > 64 || other.instances * open.blocks > mostBlocks_ ||
          !improve(open, other))
        return;
    }
  }

  bool asksForPackets() const {
    return std::ranges::any_of(program_.movement.statements,
                               [](const ir::Move &s) { return s.packets.value_or(false); });
  }

  /// What goes through a switch is plain data.
  bool mayUseSwitch(const Open &open) const { return usesSwitch_ && open.protocol == ir::Protocol::Simple; }

  /// One block, or what keeps several busy.
  void searchFew(Open open) {
    open.pull = readsMany();
    // What one block has too much of under the other protocol is too much for it under this one, too, or nearly so.
    if (!isRefusedUnderOther(open))
      score(open);
    if (open.pull && program_.movement.chooseInstances)
      open.instances *= 4; // one statement of many operands is not parted
    else if (anyBlocks_)
      open.blocks = 16;
    score(open);
    findFitting(open);
    if (mayUseSwitch(open)) {
      open.throughSwitch = true;
      score(open);
    }
  }

  /// Where an executor takes nothing that was tried, because blocks are too long for it or have too many channels: the
  /// other side of reductions, and more blocks, which are shorter, in fewer instances if need be. What is found so is
  /// as likely slow as not, so its neighbours are tried, too; of a large program, the one with the most blocks if these
  /// are several times as many.
  void findFitting(Open &open) {
    if (!std::ranges::all_of(tried_, &Candidate::refused) || !findFirstFitting(open))
      return;
    more_ += fewTried;
    const bool isSmall = mostTried_ > fewTried;
    const std::uint32_t most = std::bit_floor(mostBlocks_ / open.instances);
    for (Open other = open; anyBlocks_ && open.blocks <= most / (isSmall ? 2 : 4);) {
      other.blocks = isSmall ? 2 * open.blocks : most;
      if (!improve(open, other))
        break;
    }
    improveInstances(open, false);
  }

  /// By how much candidates pass the limits says which side of reductions is nearer to fitting, and how many blocks are
  /// enough. False if none fits.
  bool findFirstFitting(Open &open) {
    const BlockSearch none(mostBlocks_, anyBlocks_, program_.movement.chooseInstances);
    std::array<BlockSearch, 2> sides{none, none}; // [pull]
    BlockSearch &own = sides[open.pull], &other = sides[!open.pull];
    Open last = open;
    bool isMeasured = false, isUntried = true;
    own.begin({anyBlocks_ ? 2u : 1u, open.instances}); // where there was no time to try any
    for (std::size_t i = 0; i < tried_.size(); ++i)
      if (const Open &one = tried_[i].open; isBut(one, open, open.pull)) {
        own.refuse({one.blocks, one.instances}, stages_[i].excess);
        last = one;
        isMeasured = stages_[i].isMeasured;
      }
    if (mayPull_)
      other.begin(isMeasured || !own.next() ? BlockSearch::Ask{last.blocks, last.instances} : *own.next());
    for (;;) {
      const auto mine = own.next(), theirs = other.next();
      if (!mine && !theirs)
        return false;
      const bool turns = !mine || (theirs && theirs->blocks < mine->blocks);
      Open next = open;
      next.pull = open.pull != turns;
      next.blocks = (turns ? theirs : mine)->blocks;
      next.instances = (turns ? theirs : mine)->instances;
      ++more_; // else there is no program at all
      if (!score(next).refused) {
        open = next;
        return true;
      }
      const auto at = static_cast<std::size_t>(std::ranges::find(tried_, next, &Candidate::open) - tried_.begin());
      sides[next.pull].refuse({next.blocks, next.instances}, stages_[at].excess);
      // Where one is far off, the other hardly fits.
      if (!turns && stages_[at].excess.times > farOff && std::exchange(isUntried, false) && theirs && own.next())
        other.begin(*own.next());
      isUntried &= !turns;
      if (turns && isPlacedAsOther(at))
        other = none;
    }
  }
  /// False if by how much `open` passes the limits says that so many blocks are too few.
  bool mayBeEnough(const Open &open, std::uint32_t blocks) const {
    const auto found = std::ranges::find(tried_, open, &Candidate::open);
    if (found == tried_.end() || !found->refused)
      return true;
    const Excess &excess = stages_[static_cast<std::size_t>(found - tried_.begin())].excess;
    return excess.times <= 1 || excess.times * static_cast<double>(excess.blocks) <= blocks;
  }
  /// True if `one` is as `open` but for its blocks and instances, and how reductions get at operands.
  static bool isBut(Open one, const Open &open, bool pull) {
    const bool isSide = std::exchange(one.pull, open.pull) == pull;
    one.blocks = open.blocks;
    one.instances = open.instances;
    return isSide && one == open;
  }
  /// True if place makes the same of candidate `at` whether reductions pull or not.
  bool isPlacedAsOther(std::size_t at) const {
    for (std::size_t i = 0; i < tried_.size(); ++i)
      if (isBut(tried_[i].open, tried_[at].open, !tried_[at].open.pull) && arePlacedAlike(stages_[i], stages_[at]))
        return true;
    return false;
  }

  bool isRefusedUnderOther(Open open) const {
    open.protocol = open.protocol == ir::Protocol::LL ? ir::Protocol::Simple : ir::Protocol::LL;
    const auto found = std::ranges::find(tried_, open, &Candidate::open);
    return found != tried_.end() && found->refused;
  }

  /// True if a reduction has operands of several ranks: to read them takes no statement for each.
  bool readsMany() const {
    return std::ranges::any_of(program_.movement.statements, [](const ir::Move &s) {
      return s.kind == ir::MoveKind::Reduce && s.numSrcs > 2 && s.via != ir::Via::Switch;
    });
  }

  /// Takes `other` if it is faster, or as fast and simpler. False if not.
  bool improve(Open &open, const Open &other) {
    const Candidate mine = score(open), theirs = score(other);
    if (theirs.refused)
      return false;
    const bool better = mine.refused || slack * theirs.nanoseconds < mine.nanoseconds ||
                        (theirs.nanoseconds <= mine.nanoseconds && isSimpler(theirs, mine));
    if (better)
      open = other;
    return better;
  }

  /// As refused if there is no time to try it.
  Candidate score(const Open &open) {
    if (const auto found = std::ranges::find(tried_, open, &Candidate::open); found != tried_.end())
      return *found;
    if (tried_.size() >= mostTried_ + more_)
      return {.open = open, .refused = true};
    stages_.emplace_back();
    tried_.push_back({.open = open, .refused = true});
    time(tried_.back(), stages_.back());
    return tried_.back();
  }

  /// False if a pass refuses the program.
  bool run(std::string_view list, Passed &passed) const {
    PassManagerOptions options;
    options.target = goal_.target;
    PassManager passes(std::move(options), passed.holds);
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
  const Candidate *sameAsLast(bool alike = false) const {
    const Candidate &last = tried_.back();
    for (std::size_t i = 0; i + 1 < tried_.size(); ++i) {
      const Stage &stage = stages_[i];
      Open other = tried_[i].open;
      if (stage.isStuck() ? other.instances != last.open.instances : !stage.isScheduled())
        continue;
      if (!alike)
        other.instances = last.open.instances;
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
  static bool arePlacedAlike(const Stage &a, const Stage &b) {
    return a.placed && b.placed && (a.placed == b.placed || a.placed->isAs(*b.placed));
  }
  /// Takes over what is known of another candidate that comes out the same as the last one. False if there is none.
  bool takeOver(Stage &last) const {
    const Candidate *same = sameAsLast();
    if (same)
      last = stages_[static_cast<std::size_t>(same - tried_.data())];
    return same != nullptr;
  }

  /// Takes the candidate through Goal::placing. Of what is open, this reads the protocol, pull, throughSwitch, and
  /// whether there is a step.
  Passed place(const Open &open, Stage &stage) {
    for (const auto &placed : placed_)
      if (placed->open.protocol == open.protocol && (placed->open.pull == open.pull || placed->isAnySide()) &&
          placed->open.throughSwitch == open.throughSwitch && (placed->open.step != 0) == (open.step != 0)) {
        stage.placed = placed;
        return placed->passed;
      }
    Passed passed{program_, propertiesOf(program_)};
    apply(open, passed.program);
    run(goal_.placing, passed);
    if (mostTried_ + more_ > 1 || goal_.target.executor) // which may refuse it
      stage.placed = placed_.emplace_back(std::make_shared<const Placed>(open, passed));
    return passed;
  }

  /// True if the target refuses what is dealt out, however it is scheduled, or a GPU does not hold it.
  bool isTooMuch(const Open &open, Passed &passed, Excess &excess) const {
    const LeastBlocks least = leastBlocks(passed.program.movement, passed.analyses.of<StatementGraph>(passed.program));
    if (least.blocks * open.instances > mostHeld_)
      return true;
    if (!goal_.target.executor || least.operations <= goal_.target.executor->opsPerBlock)
      return false;
    excess = {static_cast<double>(least.operations) / goal_.target.executor->opsPerBlock, least.blocks};
    return true;
  }
  /// Of a candidate that is refused as thread blocks.
  void measure(const ir::Program &program, std::uint32_t instances, Stage &stage) const {
    if (!goal_.target.executor)
      return;
    stage.excess = excessOf(program, *goal_.target.executor, instances);
    stage.isMeasured = true;
  }

  /// True if a block has more channels of a type than the target takes: none of the passes that follow drops any.
  bool hasTooManyChannels(const ir::Program &program) const {
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

  /// Takes the last candidate through Goal::placing, dealing, scheduling and tidying. False if it is refused.
  bool schedule(const Open &open, Stage &stage) {
    if (takeOver(stage))
      return !stage.isStuck();
    auto passed = std::make_shared<Passed>(place(open, stage));
    if (takeOver(stage))
      return !stage.isStuck();
    if (!passed->isRefused) {
      apply(open, passed->program);
      if (run(goal_.dealing, *passed)) {
        passed->isRefused = isTooMuch(open, *passed, stage.excess);
        if (!passed->isRefused) {
          auto dealt = std::make_shared<Dealt>();
          std::ranges::transform(passed->program.movement.statements, std::back_inserter(*dealt), &ir::Move::block);
          stage.dealt = std::move(dealt);
          if (takeOver(stage))
            return !stage.isStuck();
          if (run(goal_.scheduling, *passed)) {
            passed->isRefused = hasTooManyChannels(passed->program);
            if (passed->isRefused)
              measure(passed->program, 1, stage);
            else
              run(goal_.tidying, *passed);
          }
        }
      }
    }
    // Nothing asks for these again, and those of large programs are large.
    passed->analyses = {};
    if (passed->isRefused)
      passed->program = {};
    stage.passed = std::move(passed);
    return !stage.isStuck();
  }

  /// Finds out how good the last candidate is.
  void time(Candidate &candidate, Stage &stage) {
    const Open open = candidate.open; // `candidate` may take over all figures of another
    Passed passed;
    if (!goal_.placing.empty()) {
      if (!schedule(open, stage))
        return;
      if (const Candidate *same = sameAsLast(true)) {
        candidate = *same;
        candidate.open = open;
        return;
      }
      if (stage.passed->isTooLong)
        return;
      measure(stage.passed->program, 1, stage);
      if (stage.excess.times > 1) {
        stage.passed->isTooLong = true;
        stage.passed->program = {};
        return;
      }
      passed.program = stage.passed->program;
      passed.holds = stage.passed->holds;
      passed.program.instances = open.instances;
    } else {
      passed.program = program_;
      apply(open, passed.program);
      passed.holds = propertiesOf(passed.program);
    }
    const ir::Program &program = passed.program;
    if (!run(goal_.rest, passed))
      return measure(program, open.instances, stage);
    if (time::cannotRun(program, machine_, goal_.runner))
      return;
    // Stages, and what an executor's limits ask for, make more blocks than were asked for.
    for (const ir::Rank &rank : program.ranks)
      if (rank.busyBlocks() > mostHeld_)
        return;
    candidate.refused = false;
    if (mostTried_ + more_ == 1)
      return;
    const time::LaunchFigures figures = time::launchFigures(program, machine_, goal_.runner, goal_.messageBytes,
                                                            {.instances = open.instances, .ranks = true});
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
  }

  const ir::Program &program_;
  const Goal &goal_;
  time::Machine machine_;
  std::size_t mostTried_;
  std::size_t more_ = 0;         ///< that are tried where a target refuses most
  std::uint32_t mostBlocks_ = 1; ///< that are asked for
  std::uint64_t mostHeld_ = 1;   ///< that a rank may have
  bool mayPull_ = false;         ///< some reduction has operands of other ranks
  bool usesSwitch_ = false;      ///< some statements may go through a switch
  bool anyBlocks_ = true;        ///< some statements are not given theirs
  std::vector<Candidate> tried_;
  std::vector<Stage> stages_;                         ///< [candidate]
  std::vector<std::shared_ptr<const Placed>> placed_; ///< what place has made of candidates
};

} // namespace

TakenFor takenFor(const Choice &choice, const Candidate &taken, const Candidate &other) {
  const Mark mark(choice.tried);
  if (!mark.isFast(other.nanoseconds))
    return TakenFor::Time;
  if (!mark.movesLittle(other.linkBytes))
    return TakenFor::LinkBytes;
  if (other.syncs != taken.syncs)
    return TakenFor::Syncs;
  return other.threadBlocks != taken.threadBlocks ? TakenFor::ThreadBlocks : TakenFor::Order;
}

Choice choose(ir::Program &program, const Goal &goal) {
  Chooser chooser(program, goal);
  chooser.run();
  Chooser::Result best = chooser.takeBest();
  if (best.choice.tried.empty())
    return {};
  if (best.passed) {
    program = std::move(best.passed->program);
    program.instances = best.choice.open.instances;
    best.choice.done = std::move(best.passed->done);
  } else {
    apply(best.choice.open, program);
  }
  return std::move(best.choice);
}

} // namespace mscclc::passes::schedule
