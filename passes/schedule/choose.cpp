#include "passes/schedule/choose.h"

#include "ir/collectives.h"
#include "passes/gpu_limits.h"
#include "passes/pass_manager.h"
#include "passes/schedule/through_switch.h"
#include "passes/time/estimate.h"

#include <algorithm>
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

/// How good a candidate is.
struct Score {
  double nanoseconds = 0;
  double linkBytes = 0;     ///< on the busiest link
  std::uint64_t syncs = 0;  ///< signals, waits, semaphores' and barriers' blocks
  std::uint64_t blocks = 0; ///< of all ranks
};

/// What candidates have to come up to: the time of the fastest, and the fewest bytes of those that are as fast.
struct Mark {
  double nanoseconds = std::numeric_limits<double>::infinity();
  double linkBytes = std::numeric_limits<double>::infinity();

  explicit Mark(std::span<const Score> scores) {
    for (const Score &score : scores)
      nanoseconds = std::min(nanoseconds, score.nanoseconds);
    for (const Score &score : scores)
      if (isFast(score.nanoseconds))
        linkBytes = std::min(linkBytes, score.linkBytes);
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

/// A program on its way through passes.
struct Passed {
  ir::Program program;
  std::vector<PassRecord> done = {};
  bool isRefused = false; ///< by the last of them
  bool warns = false;     ///< some warning is still to be said
};

/// What passes up to cut make of a candidate. Of what is open, those after them in Goal::scheduling read the protocol
/// and the step besides; and the instances, to refuse what takes more blocks than the program allows.
struct Dealt {
  std::vector<ir::Move> statements;
  std::vector<ir::RankChunk> places;
  std::vector<std::uint32_t> scratch; ///< [rank]: chunks

  explicit Dealt(const ir::Program &program)
      : statements(program.movement.statements), places(program.movement.places) {
    for (const ir::Rank &rank : program.ranks)
      scratch.push_back(rank.scratchChunks);
  }
  friend bool operator==(const Dealt &, const Dealt &) = default;
};

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
      const bool llFirst = goal_.messageBytes <= mostPacketBytes / 16 && !(mostTried_ < 8 && readsMany());
      // A statement may ask for packets, which an executor takes under no other protocol.
      const bool asked = asksForPackets();
      if (goal_.messageBytes <= mostPacketBytes || asked)
        protocols.insert(llFirst || asked ? protocols.begin() : protocols.end(), ir::Protocol::LL);
    }
    for (const ir::Protocol protocol : protocols)
      search({.protocol = protocol, .instances = firstInstances()});
  }

  struct Tried {
    Open open;
    std::optional<Score> score; ///< none: refused
    /// After Goal::scheduling, or as far as that went; null if it has not been through that. Those that come out the
    /// same have it in common, with the instances of one of them.
    std::shared_ptr<Passed> passed = {};
    std::shared_ptr<const Dealt> dealt = {}; ///< once it has been through cut

    bool isStuck() const { return passed && passed->isRefused; }
    bool isScheduled() const { return passed && !passed->isRefused && !passed->warns; }
  };

  /// The best of all that were tried; null if none was taken.
  Tried *best() {
    std::vector<Score> scores;
    for (const Tried &one : tried_)
      if (one.score)
        scores.push_back(*one.score);
    const Mark mark(scores);
    Tried *best = nullptr;
    for (Tried &one : tried_)
      if (one.score && mark.isFast(one.score->nanoseconds) && mark.movesLittle(one.score->linkBytes) &&
          (!best || hasLessSync(*one.score, *best->score)))
        best = &one;
    return best;
  }
  Choice choice(const Open &open) const {
    Choice choice{open, {}, 0, static_cast<std::uint32_t>(tried_.size()), 0, {}};
    for (const Tried &one : tried_) {
      const Score score = one.score.value_or(Score{});
      choice.tried.push_back({one.open, !one.score, score.nanoseconds, score.linkBytes, score.syncs, score.blocks});
      choice.refused += !one.score;
      if (one.open == open && one.score)
        choice.nanoseconds = one.score->nanoseconds;
    }
    return choice;
  }

private:
  /// Of all candidates together: scheduling and timing these takes some tens of milliseconds.
  static constexpr std::size_t mostStatements = 8192;
  static constexpr std::size_t fewTried = 5;
  static constexpr std::uint64_t leastStep = std::uint64_t{16} << 10; ///< bytes of a pipeline's unit
  static constexpr std::uint64_t mostPacketBytes = std::uint64_t{4} << 20;

  /// As many statements as take as long: one of many operands is like many of one.
  static std::size_t sizeOf(const ir::Movement &movement) {
    return std::max(movement.statements.size(), movement.places.size() / 4);
  }

  static bool hasLessSync(const Score &a, const Score &b) {
    return a.syncs != b.syncs ? a.syncs < b.syncs : a.blocks < b.blocks;
  }
  static bool isSimpler(const Score &a, const Score &b) {
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

  void search(Open open) {
    if (mostTried_ <= fewTried)
      return searchFew(open);
    for (Open other = open; const bool pull : {false, true}) {
      other.pull = pull;
      improve(open, other);
      if (std::ranges::none_of(program_.movement.statements,
                               [](const ir::Move &s) { return s.kind == ir::MoveKind::Reduce; }))
        break;
    }
    if (Open other = open; mayUseSwitch(open)) {
      other.throughSwitch = true;
      improve(open, other);
    }
    const auto peers = static_cast<std::uint32_t>(program_.ranks.size()) - 1;
    for (const std::uint32_t blocks : {2u, 4u, peers})
      if (anyBlocks_ && blocks > open.blocks && blocks * open.instances <= mostBlocks_) {
        Open other = open;
        other.blocks = blocks;
        improve(open, other);
      }
    findFitting(open);
    if (program_.movement.chooseInstances)
      for (const bool up : {true, false})
        for (Open other = open;;) {
          other.instances = up ? other.instances * 2 : other.instances / 2;
          if (other.instances == 0 || other.instances > 64 || other.instances * open.blocks > mostBlocks_ ||
              !improve(open, other))
            break;
        }
    // Some iterations keep all stages busy; short ones cost more sync than they gain.
    const std::uint64_t chunk =
        goal_.messageBytes / std::max(ir::chunksOfMessage(program_, program_.ranks[0]), 1u) / open.instances;
    // The stages of a pipeline are thread blocks of their own.
    const bool pinned =
        std::ranges::any_of(program_.movement.statements, [](const ir::Move &s) { return s.block.has_value(); });
    if (open.protocol != ir::Protocol::Simple || pinned || asksForPackets()) // which take a slot once a launch
      return;
    // Each stage has as many blocks as were best for all, or one.
    for (const std::uint32_t blocks : std::set{open.blocks, 1u})
      for (const std::uint64_t iterations : {4, 16})
        if (chunk / iterations >= leastStep) {
          Open other = open;
          other.step = chunk / iterations / leastStep * leastStep;
          other.blocks = blocks;
          improve(open, other);
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

  /// Where an executor takes nothing that was tried, because blocks are too long for it: more blocks, which are
  /// shorter, in fewer instances if need be.
  void findFitting(Open &open) {
    const auto fits = [this] {
      return std::ranges::any_of(tried_, [](const Tried &one) { return one.score.has_value(); });
    };
    for (Open other = open; !fits();) {
      if (anyBlocks_ && other.blocks * 2 * other.instances <= mostBlocks_)
        other.blocks *= 2;
      else if (program_.movement.chooseInstances && other.instances > 1)
        other.instances /= 2;
      else
        break;
      mostTried_ = std::max(mostTried_, tried_.size() + 1); // else there is no program at all
      if (score(other))
        open = other;
    }
  }

  /// True if a reduction has operands of several ranks: to read them takes no statement for each.
  bool readsMany() const {
    return std::ranges::any_of(program_.movement.statements, [](const ir::Move &s) {
      return s.kind == ir::MoveKind::Reduce && s.numSrcs > 2 && s.via != ir::Via::Switch;
    });
  }

  /// Takes `other` if it is faster, or as fast and simpler. False if not.
  bool improve(Open &open, const Open &other) {
    const std::optional<Score> mine = score(open), theirs = score(other);
    if (!theirs)
      return false;
    const bool better = !mine || slack * theirs->nanoseconds < mine->nanoseconds ||
                        (theirs->nanoseconds <= mine->nanoseconds && isSimpler(*theirs, *mine));
    if (better)
      open = other;
    return better;
  }

  std::optional<Score> score(const Open &open) {
    for (const Tried &one : tried_)
      if (one.open == open)
        return one.score;
    if (tried_.size() >= mostTried_)
      return std::nullopt;
    tried_.push_back({open, std::nullopt});
    tried_.back().score = time(tried_.back());
    return tried_.back().score;
  }

  /// False if a pass refuses the program.
  bool run(std::string_view list, Passed &passed) const {
    PassManagerOptions options;
    options.target = goal_.target;
    PassManager passes(std::move(options), propertiesOf(passed.program));
    ir::DiagnosticEngine silent;
    PassRun result{.ok = passes.add(list).empty(), .records = {}};
    if (result.ok)
      result = passes.run(passed.program, silent);
    passed.isRefused = !result.ok;
    passed.warns |= silent.numWarnings() != 0;
    std::ranges::move(result.records, std::back_inserter(passed.done));
    return result.ok;
  }

  /// Another candidate that is the same as `tried` after Goal::scheduling; null if none is known. One that it refused
  /// has as many instances: others may be too many. `alike`: so has any, and comes out the same.
  const Tried *sameAs(const Tried &tried, bool alike = false) const {
    for (const Tried &one : tried_) {
      Open other = one.open;
      if (!alike)
        other.instances = tried.open.instances;
      if (tried.dealt && one.dealt && *tried.dealt == *one.dealt) {
        other.pull = tried.open.pull;
        other.blocks = tried.open.blocks;
      }
      const bool counts = one.isStuck() ? one.open.instances == tried.open.instances : one.isScheduled();
      if (&one != &tried && other == tried.open && counts)
        return &one;
    }
    return nullptr;
  }
  /// Takes over what is known of another candidate that comes out the same. False if there is none.
  bool takeOver(Tried &tried) const {
    const Tried *same = sameAs(tried);
    if (same) {
      tried.passed = same->passed;
      tried.dealt = same->dealt;
    }
    return same != nullptr;
  }

  /// Takes the candidate through Goal::placing. Of what is open, this reads the protocol, pull and throughSwitch alone.
  Passed place(const Open &open) {
    for (const auto &[other, placed] : placed_)
      if (other.protocol == open.protocol && other.pull == open.pull && other.throughSwitch == open.throughSwitch)
        return placed;
    Passed placed{program_};
    apply(open, placed.program);
    run(goal_.placing, placed);
    if (mostTried_ > 1)
      placed_.emplace_back(open, placed);
    return placed;
  }

  /// Takes the candidate through Goal::placing, dealing and scheduling.
  void schedule(Tried &tried) {
    if (takeOver(tried))
      return;
    tried.passed = std::make_shared<Passed>(place(tried.open));
    Passed &passed = *tried.passed;
    if (passed.isRefused)
      return;
    apply(tried.open, passed.program);
    if (!run(goal_.dealing, passed))
      return;
    tried.dealt = std::make_shared<const Dealt>(passed.program);
    if (!takeOver(tried))
      run(goal_.scheduling, passed);
  }

  std::optional<Score> time(Tried &tried) {
    Passed passed;
    if (!goal_.placing.empty()) {
      schedule(tried);
      if (tried.isStuck())
        return std::nullopt;
      if (const Tried *same = sameAs(tried, true))
        return same->score;
      passed.program = tried.passed->program;
      passed.program.instances = tried.open.instances;
    } else {
      passed.program = program_;
      apply(tried.open, passed.program);
    }
    const ir::Program &program = passed.program;
    if (!run(goal_.rest, passed) || time::cannotRun(program, machine_, goal_.runner))
      return std::nullopt;
    // Stages, and what an executor's limits ask for, make more blocks than were asked for.
    for (const ir::Rank &rank : program.ranks)
      if (rank.busyBlocks() > mostHeld_)
        return std::nullopt;
    if (mostTried_ == 1)
      return Score{};
    const time::LaunchFigures figures = time::launchFigures(program, machine_, goal_.runner, goal_.messageBytes,
                                                            {.instances = tried.open.instances, .ranks = true});
    Score score{figures.total, figures.linkBytes, 0, 0};
    for (const ir::Rank &rank : program.ranks) {
      score.blocks += rank.blocks.size();
      for (const ir::ThreadBlock &block : rank.blocks)
        for (const ir::Op &op : block.ops) {
          const ir::EffectInfo effect = ir::info(ir::info(op.kind).effect);
          score.syncs += op.kind == ir::OpKind::Barrier ? 1 : effect.sends() || effect.takes() ? op.numIds : 0;
        }
    }
    return score;
  }

  const ir::Program &program_;
  const Goal &goal_;
  time::Machine machine_;
  std::size_t mostTried_;
  std::uint32_t mostBlocks_ = 1; ///< that are asked for
  std::uint64_t mostHeld_ = 1;   ///< that a rank may have
  bool usesSwitch_ = false;      ///< some statements may go through a switch
  bool anyBlocks_ = true;        ///< some statements are not given theirs
  std::vector<Tried> tried_;
  std::vector<std::pair<Open, Passed>> placed_; ///< what place has made of candidates
};

} // namespace

TakenFor takenFor(const Choice &choice, const Candidate &taken, const Candidate &other) {
  std::vector<Score> scores;
  for (const Candidate &one : choice.tried)
    if (!one.refused)
      scores.push_back({one.nanoseconds, one.linkBytes, one.syncs, one.threadBlocks});
  const Mark mark(scores);
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
  Chooser::Tried *best = chooser.best();
  if (!best)
    return {};
  Choice choice = chooser.choice(best->open);
  if (best->isScheduled()) {
    program = std::move(best->passed->program);
    program.instances = best->open.instances;
    choice.done = std::move(best->passed->done);
  } else {
    apply(best->open, program);
  }
  return choice;
}

} // namespace mscclc::passes::schedule
