#include "passes/schedule/choose.h"

#include "ir/collectives.h"
#include "passes/schedule/block_search.h"
#include "passes/schedule/candidates.h"
#include "passes/schedule/through_switch.h"

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

class Chooser {
public:
  Chooser(const ir::Program &program, const Goal &goal)
      : program_(program), goal_(goal), candidates_(program, goal),
        mostTried_(std::clamp<std::size_t>(mostStatements / sizeOf(program.movement), 1, 40)) {
    const ir::Movement &movement = program.movement;
    // A switch sums in an order of its own, and takes memory that is bound to it: users ask for both in one.
    usesSwitch_ = movement.reassociate && goal.machine.parameters.multimem != 0 && canUseSwitch(program);
    anyBlocks_ = std::ranges::any_of(movement.statements, [](const ir::Move &s) { return !s.block; });
    mayPull_ = std::ranges::any_of(movement.statements, [&](const ir::Move &s) {
      return s.kind == ir::MoveKind::Reduce && std::ranges::any_of(movement.srcs(s), [&](const ir::RankChunk &src) {
               return src.rank != movement.dsts(s)[0].rank;
             });
    });
    mostBlocks_ = movement.mostBlocks != 0 ? movement.mostBlocks : goal.machine.multiprocessors;
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
    const auto searchAll = [&](bool relayBlocks) {
      for (const ir::Protocol protocol : protocols)
        for (const bool throughSwitch : {true, false}) {
          const Open open{.protocol = protocol,
                          .instances = firstInstances(),
                          .throughSwitch = throughSwitch,
                          .relayBlocks = relayBlocks};
          if (!throughSwitch || (mostTried_ > fewTried && mayUseSwitch(open)))
            search(open);
        }
    };
    searchAll(false);
    relays_ = mayRelay();
    if (relays_) {
      more_ = tried().size();
      searchAll(true);
    }
  }
  /// True if candidates with relay blocks were tried.
  bool triedRelays() const { return relays_; }

  /// What was taken, and the program as far as it is known; nothing where none was taken.
  struct Result {
    Choice choice;
    std::shared_ptr<Made> scheduled; ///< null if it has not been through all of Goal::tidying
  };
  Result takeBest() {
    const Candidate *best = findBest(tried());
    while (best && !candidates_.complete(static_cast<std::size_t>(best - tried().data())))
      best = findBest(tried());
    if (!best)
      return {};
    std::vector<Candidate> finished = finish(*best);
    if (const Candidate *inTheEnd = findBest(finished))
      best = &tried()[*candidates_.find(inTheEnd->open)];
    const Stage &stage = candidates_.stageOf(static_cast<std::size_t>(best - tried().data()));
    Result result{{.open = best->open,
                   .tried = {},
                   .finished = std::move(finished),
                   .nanoseconds = best->nanoseconds,
                   .candidates = static_cast<std::uint32_t>(tried().size()),
                   .refused = static_cast<std::uint32_t>(std::ranges::count(tried(), true, &Candidate::refused)),
                   .done = {}},
                  goal_.keeps && stage.scheduled && stage.scheduled->isScheduled() ? stage.scheduled : nullptr};
    result.choice.tried = candidates_.takeTried();
    return result;
  }

private:
  /// Of all candidates together: scheduling and timing these takes some tens of milliseconds.
  static constexpr std::size_t mostStatements = 8192;
  static constexpr std::size_t fewTried = 5;
  static constexpr std::size_t manyTried = 16; ///< of a program that is so small that some may be finished
  static constexpr std::size_t mostFinished = 3;
  static constexpr double mayOvertake = 1.2; ///< times as long as the best: pruning seldom makes up for more
  static constexpr double farOff = 3;        ///< of an executor's limits, what one side of reductions seldom spares
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

  /// Of those that are not refused; null if all are.
  static const Candidate *findBest(std::span<const Candidate> among) {
    const Mark mark(among);
    const Candidate *best = nullptr;
    for (const Candidate &one : among)
      if (!one.refused && mark.isFast(one.nanoseconds) && mark.movesLittle(one.linkBytes) &&
          (!best || hasLessSync(one, *best)))
        best = &one;
    return best;
  }

  /// Takes `best` and the fastest others through all passes. Nothing where that takes long, or there are no others.
  std::vector<Candidate> finish(const Candidate &best) {
    if (goal_.pruning.empty() || mostTried_ < manyTried)
      return {};
    std::vector<std::size_t> rivals;
    for (std::size_t i = 0; i < tried().size(); ++i)
      if (const Candidate &one = tried()[i]; !one.refused && one.nanoseconds <= mayOvertake * best.nanoseconds)
        rivals.push_back(i);
    if (rivals.size() == 1)
      return {};
    std::ranges::stable_sort(rivals, {}, [&](std::size_t i) { return std::pair(&tried()[i] != &best, timeOf(i)); });
    std::vector<Candidate> finished;
    std::set<double> times; // those that come out the same take the same time
    for (const std::size_t i : rivals)
      if (finished.size() < mostFinished && times.insert(timeOf(i)).second && candidates_.complete(i))
        if (const std::optional<Candidate> inTheEnd = candidates_.finish(i))
          finished.push_back(*inTheEnd);
    return finished.size() > 1 ? finished : std::vector<Candidate>();
  }
  double timeOf(std::size_t candidate) const { return tried()[candidate].nanoseconds; }

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

  /// True if blocks of candidates had too many channels. Of a large program, only if nothing else fits.
  bool mayRelay() const {
    bool lacksChannels = false;
    for (std::size_t i = 0; i < tried().size() && !lacksChannels; ++i)
      if (const std::shared_ptr<Made> &scheduled = candidates_.stageOf(i).scheduled)
        lacksChannels = scheduled->lacksChannels;
    return lacksChannels && (mostTried_ > fewTried || std::ranges::all_of(tried(), &Candidate::refused));
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
    if (!std::ranges::all_of(tried(), &Candidate::refused) || !findFirstFitting(open))
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
    for (std::size_t i = 0; i < tried().size(); ++i)
      if (const Open &one = tried()[i].open; isBut(one, open, open.pull)) {
        own.refuse({one.blocks, one.instances}, candidates_.stageOf(i).excess);
        last = one;
        isMeasured = candidates_.stageOf(i).isMeasured;
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
      const std::size_t at = *candidates_.find(next);
      const Excess &excess = candidates_.stageOf(at).excess;
      sides[next.pull].refuse({next.blocks, next.instances}, excess);
      // Where one is far off, the other hardly fits.
      if (!turns && excess.times > farOff && std::exchange(isUntried, false) && theirs && own.next())
        other.begin(*own.next());
      isUntried &= !turns;
      if (turns && isPlacedAsOther(at))
        other = none;
    }
  }
  /// False if by how much `open` passes the limits says that so many blocks are too few.
  bool mayBeEnough(const Open &open, std::uint32_t blocks) const {
    const auto found = candidates_.find(open);
    if (!found || !tried()[*found].refused)
      return true;
    const Excess &excess = candidates_.stageOf(*found).excess;
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
    const Open &open = tried()[at].open;
    for (std::size_t i = 0; i < tried().size(); ++i)
      if (isBut(tried()[i].open, open, !open.pull) && candidates_.stageOf(i).placed == candidates_.stageOf(at).placed)
        return true;
    return false;
  }

  bool isRefusedUnderOther(Open open) const {
    open.protocol = open.protocol == ir::Protocol::LL ? ir::Protocol::Simple : ir::Protocol::LL;
    const auto found = candidates_.find(open);
    return found && tried()[*found].refused;
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
    if (const auto found = candidates_.find(open))
      return tried()[*found];
    if (Open plain = open; std::exchange(plain.relayBlocks, false))
      if (const auto found = candidates_.find(plain); found && !tried()[*found].refused)
        return tried()[*found]; // no block lacks channels
    if (tried().size() >= mostTried_ + more_)
      return {.open = open, .refused = true};
    return candidates_.tryOut(open, mostTried_ + more_ == 1);
  }
  const std::vector<Candidate> &tried() const { return candidates_.tried(); }

  const ir::Program &program_;
  const Goal &goal_;
  Candidates candidates_;
  std::size_t mostTried_;
  std::size_t more_ = 0;         ///< that are tried where a target refuses most
  std::uint32_t mostBlocks_ = 1; ///< that are asked for
  bool mayPull_ = false;         ///< some reduction has operands of other ranks
  bool relays_ = false;          ///< relay blocks were tried
  bool usesSwitch_ = false;      ///< some statements may go through a switch
  bool anyBlocks_ = true;        ///< some statements are not given theirs
};

} // namespace

TakenFor takenFor(std::span<const Candidate> among, const Candidate &taken, const Candidate &other) {
  const Mark mark(among);
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
  if (best.choice.tried.empty()) {
    program.movement.relayBlocks = chooser.triedRelays(); // what is said is then not about channels that these spare
    return {};
  }
  if (best.scheduled) {
    program = std::move(best.scheduled->passed.program);
    program.instances = best.choice.open.instances;
    best.choice.done = std::move(best.scheduled->passed.done);
  } else {
    apply(best.choice.open, program);
  }
  return std::move(best.choice);
}

} // namespace mscclc::passes::schedule
