#include "passes/schedule/choose.h"

#include "ir/collectives.h"
#include "passes/schedule/candidates.h"
#include "passes/schedule/placement.h"
#include "passes/schedule/through_switch.h"
#include "passes/time/unmeasured.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace mscclc::passes::schedule {
namespace {

/// Returns the largest number of thread blocks per rank that is tried.
std::uint32_t mostBlocksOf(const ir::Program &program, const ChooseOptions &options) {
  return program.movement.mostBlocks != 0 ? program.movement.mostBlocks : options.machine.multiprocessors;
}

/// The facts by which moves decide what to try.
struct Facts {
  Facts(const ir::Program &program, const ChooseOptions &options);

  // The budget limits the number of candidates. Candidates with 8,192 statements in total take some tens of
  // milliseconds, as long as the rest of a compilation. A statement with many operands counts as several statements.
  // Candidates that do not fit the target do not count, because most of them are refused early. Candidates for which
  // the passes make equal programs count once.
  static constexpr std::size_t mostStatements = 8192; ///< statements of all candidates together
  static constexpr std::size_t mostTried = 40;        ///< candidates; the moves usually ask for fewer
  static constexpr std::size_t fewTried = 5;          ///< up to this budget, only the likeliest choices are tried
  std::size_t budget;                                 ///< the largest number of candidates
  bool isLarge;                                       ///< the budget is at most fewTried
  bool isSmall;                                       ///< the budget is at least manyTried
  static constexpr std::uint32_t usualBlocks = 16;    ///< blocks of a large program; this number keeps a GPU busy
  static constexpr std::size_t manyTried = 16; ///< with at least this budget, some candidates go through all passes
  /// The least budget for a program that is planned as one rank: for a large program, and for others.
  static constexpr std::size_t largeAsOneRank = 16, othersAsOneRank = 32;
  // The first candidate has at most `mostAtFirst` instances. Their number doubles while each has more than
  // `perInstance` bytes of a rank's share. A block moves some tens of KiB in the time that a signal takes.
  static constexpr std::uint32_t mostAtFirst = 8;
  static constexpr std::uint64_t perInstance = std::uint64_t{64} << 10;
  /// A program with more statements has one block for each rank in its first candidate. If its message is short, it has
  /// only one candidate, even if one rank represents all. A ring of 1,024 ranks has 2^20 statements. Its proof takes
  /// seconds with one block for each rank, and minutes with 16.
  static constexpr std::size_t mostInBlocks = 65536;
  /// If one rank represents all ranks in some candidates of a large program, other candidates are planned for all ranks
  /// only up to this number of statements. The trees of an all-gather of 256 ranks have 16,128 statements. Such a
  /// candidate takes up to 6 s, and four times as long with twice the ranks.
  static constexpr std::size_t mostOfAllRanks = 32768;

  const ir::Program &program;
  std::uint64_t messageBytes;
  std::uint32_t mostBlocks; ///< the most blocks of a rank, in all instances together
  bool hasNodes;            ///< the program has several nodes
  bool choosesProtocol, choosesInstances;
  bool choosesBlocks = false;    ///< some statements do not name their block
  bool pinsBlocks = false;       ///< some statements name their block
  bool mayPull = false;          ///< some reduction has operands on other ranks
  bool readsMany = false;        ///< some reduction takes more than two operands in one statement
  bool takesWholeChunks = false; ///< some hook, the wire format or the collective needs whole chunks
  bool asksForPackets = false;   ///< some statement asks for packets, which an executor takes under protocol LL only
  bool packetsMayWin = false;    ///< the message is short enough for packets to be faster
  bool packetsLikelyWin = false; ///< packets are tried first
  bool usesSwitch;               ///< some statements may go through a switch
  /// Each rank has so much data that more instances or a pipeline may save time. For a large program, half as much is
  /// enough, because its first candidate is seldom good.
  bool isLong;
  // These facts follow from the candidates that were tried so far.
  bool isOneRank = false;     ///< the program is large, and its candidates are planned and timed as one rank
  bool anyFits = false;       ///< some candidate is not refused
  bool fitsLate = false;      ///< the first candidate that is not refused came after the budget was spent
  bool exceedsLimits = false; ///< some candidate exceeds limits that it would meet with more blocks
  bool lacksChannels = false; ///< some candidate is refused because its blocks have too many channels

  /// True if more candidates are tried when one rank represents all, because such candidates are planned and timed as
  /// one rank.
  bool triesOneRank() const { return isLong || (!isSmall && program.movement.statements.size() <= mostInBlocks); }
};

Facts::Facts(const ir::Program &given, const ChooseOptions &options)
    : budget(std::clamp<std::size_t>(
          mostStatements / std::max(given.movement.statements.size(), given.movement.places.size() / 4), 1, mostTried)),
      isLarge(budget <= fewTried), isSmall(budget >= manyTried), program(given), messageBytes(options.messageBytes),
      mostBlocks(mostBlocksOf(given, options)), hasNodes(time::namedNodes(given) > 1),
      // Rows are moved in whole chunks, and not in packets (verify/rows.cpp).
      choosesProtocol(given.movement.chooseProtocol && !ir::info(given.collective.kind).hasRows),
      choosesInstances(given.movement.chooseInstances),
      // A switch sums in its own order, and needs memory that is bound to it. Order::Any allows both. A kernel that
      // never waits neither writes outputs of other ranks nor reads their inputs.
      usesSwitch(given.movement.order == ir::Order::Any && !given.split &&
                 given.movement.accumulate != ir::Accumulate::Wide && !ir::wireOf(given) &&
                 options.machine.parameters.multimem != 0 && !ir::info(given.collective.kind).hasRows &&
                 canUseSwitch(given)),
      isLong(options.messageBytes / given.ranks.size() >= perInstance / (isLarge ? 2 : 1)) {
  takesWholeChunks = ir::info(given.collective.kind).hasRows || ir::wireOf(given);
  for (const ir::Move &statement : given.movement.statements) {
    (statement.block ? pinsBlocks : choosesBlocks) = true;
    asksForPackets |= statement.packets.value_or(false);
    takesWholeChunks |=
        statement.kind == ir::MoveKind::Apply && given.hooks[statement.hook].granularity != ir::Granularity::Element;
    if (statement.kind != ir::MoveKind::Reduce)
      continue;
    readsMany |= statement.numSrcs > 2 && statement.via != ir::Via::Switch && !given.split;
    const std::uint32_t at = given.movement.dsts(statement)[0].rank;
    const bool readsAll = !options.target.listedOrder && canReadAll(given.movement, given.movement.srcs(statement), at);
    mayPull |=
        !given.split && mayRead(given.movement, statement, readsAll) &&
        std::ranges::any_of(given.movement.srcs(statement), [&](const ir::RankChunk &src) { return src.rank != at; });
  }
  // Packets are twice as long as plain data. So packets are slower if the additional bytes take longer than a signal.
  // Between nodes a signal takes longer, because it waits for proxies. A rank that reads all operands at once needs few
  // signals.
  const std::uint64_t mostPacketBytes = (hasNodes ? 32ull : 8ull) << 20;
  packetsMayWin = messageBytes <= mostPacketBytes;
  packetsLikelyWin = messageBytes <= std::uint64_t{256} << 10 && !(isLarge && readsMany);
}

/// Returns the first choices of the search.
ScheduleChoices firstOf(const Facts &facts) {
  ScheduleChoices choices{.protocol = facts.program.protocol, .instances = facts.program.instances};
  if (facts.choosesProtocol)
    choices.protocol = facts.packetsLikelyWin || facts.asksForPackets ? ir::Protocol::LL : ir::Protocol::Simple;
  if (facts.choosesInstances)
    for (choices.instances = 1; choices.instances < Facts::mostAtFirst; choices.instances *= 2)
      if (facts.messageBytes / facts.program.ranks.size() / choices.instances <= Facts::perInstance)
        break;
  choices.pull = facts.isLarge && facts.readsMany;
  // Few other candidates will be tried, so the first one already has many blocks.
  if (facts.choosesBlocks && facts.budget == 1 && facts.program.movement.statements.size() <= Facts::mostInBlocks)
    choices.blocks = std::max(1u, std::min(Facts::usualBlocks, facts.mostBlocks / choices.instances));
  return choices;
}

using ChoiceList = std::vector<ScheduleChoices>;
template <typename T>
ScheduleChoices with(ScheduleChoices choices, T ScheduleChoices::*choice, std::type_identity_t<T> value) {
  choices.*choice = value;
  return choices;
}

/// Returns choices with more blocks for a candidate that exceeds an executor's limits. If there is no room otherwise,
/// they have fewer instances. If reductions may read their operands, both ways are tried, because these exceed the
/// limits by different amounts.
ChoiceList enoughBlocks(const Facts &facts, const Candidate &from) {
  ScheduleChoices next = from.choices;
  const std::uint64_t enough = std::bit_ceil(std::max({from.excess.enoughBlocks(), std::uint64_t{2} * next.blocks,
                                                       std::uint64_t{facts.isLarge ? Facts::usualBlocks : 2u}}));
  while (facts.choosesInstances && next.instances > 1 && enough * next.instances > facts.mostBlocks)
    next.instances /= 2;
  const std::uint64_t room = std::bit_floor(facts.mostBlocks / next.instances);
  next.blocks = std::max(next.blocks, static_cast<std::uint32_t>(std::min(enough, room)));
  return facts.mayPull ? ChoiceList{next, with(next, &ScheduleChoices::pull, !next.pull)} : ChoiceList{next};
}

/// Returns the numbers of blocks to try for choices that fit the limits.
std::set<std::uint32_t> numbersOfBlocks(const Facts &facts, const ScheduleChoices &choices) {
  const std::uint32_t room = std::bit_floor(facts.mostBlocks / choices.instances);
  if (facts.fitsLate) // with fewer blocks, each block is long and slow
    return {room};
  if (facts.isLarge)
    return facts.isOneRank ? std::set{facts.usualBlocks, room} : std::set{facts.usualBlocks};
  const auto peers = static_cast<std::uint32_t>(facts.program.ranks.size()) - 1;
  return facts.exceedsLimits ? std::set{2 * choices.blocks, peers} : std::set{2u, 4u, peers};
}

constexpr std::uint64_t leastStep = std::uint64_t{16} << 10; ///< the shortest units of pipelines that are tried

/// True if the program may be a pipeline with these choices.
bool mayBePipeline(const Facts &facts, const ScheduleChoices &choices) {
  return (!facts.isLarge || facts.isOneRank) && !facts.pinsBlocks && !facts.asksForPackets && !facts.takesWholeChunks &&
         choices.protocol == ir::Protocol::Simple;
}

/// Appends to `others` the choices with pipelines that divide each chunk of an instance into these numbers of units.
void divide(const Facts &facts, const ScheduleChoices &choices, std::initializer_list<std::uint64_t> units,
            ChoiceList &others) {
  const ir::Program &program = facts.program;
  const std::uint64_t chunk = facts.messageBytes / std::max(ir::chunksOfMessage(program, program.ranks[0]), 1u);
  for (const std::uint64_t number : units)
    if (const std::uint64_t step = chunk / choices.instances / number / leastStep * leastStep; step != 0)
      others.push_back(with(choices, &ScheduleChoices::step, step));
}

/// Returns the choices with so many blocks for each stage of a pipeline, and with so many instances if they are free.
ScheduleChoices withStages(const Facts &facts, ScheduleChoices choices, std::uint32_t blocks, std::uint32_t instances) {
  choices.blocks = blocks;
  if (facts.choosesInstances)
    choices.instances = instances;
  return choices;
}

/// A move of the search, which changes one choice.
struct ChoiceMove {
  /// True if the search starts again from the changed candidate, even if it is worse. Otherwise the search continues
  /// from the changed candidate only if it is better. From a start that is a pipeline, the search does not start again:
  /// the start without a pipeline has these moves, too, and packets are no pipeline.
  bool startsAnew;
  /// Returns the choices to try instead of the choices of candidate `from`.
  ChoiceList (*others)(const Facts &, const Candidate &from);
};

/// The search makes these moves in this order.
constexpr ChoiceMove choiceMoves[] = {
    // Pull: a reduction reads its operands, which saves scratch and signals. Otherwise other ranks put the operands
    // into scratch, which saves a round trip. For a large program, firstOf() chooses the way that is probably faster.
    {.startsAnew = false,
     .others = [](const Facts &facts, const Candidate &from) -> ChoiceList {
       if (!facts.mayPull || facts.isLarge)
         return {};
       return {with(from.choices, &ScheduleChoices::pull, !from.choices.pull)};
     }},
    // Blocks: more blocks move data in parallel, each for some of the peers. Each block is also shorter, which an
    // executor may require.
    {.startsAnew = false,
     .others = [](const Facts &facts, const Candidate &from) -> ChoiceList {
       if (!facts.choosesBlocks)
         return {};
       if (from.refused)
         return from.excess.isKnown() ? enoughBlocks(facts, from) : ChoiceList();
       ChoiceList others;
       for (const std::uint32_t blocks : numbersOfBlocks(facts, from.choices))
         if (blocks > from.choices.blocks && blocks * from.choices.instances <= facts.mostBlocks)
           others.push_back(with(from.choices, &ScheduleChoices::blocks, blocks));
       return others;
     }},
    // Instances: more instances move data in parallel, and fewer instances need less sync. A large program has a budget
    // for large changes only. If there is no room for all its blocks, each instance has fewer blocks.
    {.startsAnew = false,
     .others = [](const Facts &facts, const Candidate &from) -> ChoiceList {
       const std::uint32_t times = facts.isLarge && !facts.isOneRank ? 4 : 2;
       const ScheduleChoices fewer =
           with(from.choices, &ScheduleChoices::instances, std::max(from.choices.instances / times, 1u));
       ScheduleChoices more = with(from.choices, &ScheduleChoices::instances, times * from.choices.instances);
       if (facts.isLarge && more.instances * more.blocks > facts.mostBlocks)
         more.blocks /= times;
       if (!facts.choosesInstances)
         return {};
       return more.instances <= 64 && more.blocks != 0 && more.instances * more.blocks <= facts.mostBlocks
                  ? ChoiceList{more, fewer}
                  : ChoiceList{fewer};
     }},
    // Pipeline: the units of a chunk keep several ranks busy at the same time. Few units are not enough for that, and
    // many units cost more time for sync than they save. Each stage has one block, or as many blocks as were best
    // without a pipeline, or twice as many if that is better. Between nodes, fewer instances need fewer flushes, and
    // have longer units. Between nodes, it may also be faster to put operands than to read them: the other units hide
    // the time of a put, and stores are faster than loads. A pipeline has no packets, because a slot takes packets once
    // per launch.
    {.startsAnew = false,
     .others = [](const Facts &facts, const Candidate &from) -> ChoiceList {
       constexpr std::uint32_t usualStages = 4; // stages of a rank; each has a block
       const ScheduleChoices &choices = from.choices;
       if (from.refused || !mayBePipeline(facts, choices))
         return {};
       ChoiceList others;
       if (choices.step != 0) {
         divide(facts, choices, {8}, others);
         const ScheduleChoices twice = with(choices, &ScheduleChoices::blocks, 2 * choices.blocks);
         others.push_back(twice);
         if (facts.hasNodes && facts.mayPull)
           others.push_back(with(choices, &ScheduleChoices::pull, !choices.pull));
         if (facts.hasNodes && facts.choosesInstances && choices.instances > 1)
           others.push_back(with(twice, &ScheduleChoices::instances, choices.instances / 2));
       } else if (facts.isOneRank) { // each stage has blocks of its own, and a GPU has room for several stages
         const ScheduleChoices few = withStages(facts, choices, Facts::usualBlocks / 4, Facts::mostAtFirst / 2);
         divide(facts, few, {16, 4}, others);
         if (others.empty()) // chunks are too short for units, but the stages still work at the same time
           others.push_back(with(few, &ScheduleChoices::step, leastStep));
       } else {
         // Units may be too short for a pipeline, or several stages may have no room. Fewer instances have longer
         // units, and leave room for more stages.
         std::set<std::uint32_t, std::greater<>> numbers{choices.instances};
         if (std::uint32_t fewer = std::max(choices.instances / 2, 1u); facts.choosesInstances) {
           numbers.insert(fewer);
           while (fewer > 1 && usualStages * fewer > facts.mostBlocks)
             fewer /= 2;
           numbers.insert(fewer);
         }
         for (const std::uint32_t instances : numbers)
           for (const std::uint32_t blocks : std::set{choices.blocks, 1u})
             divide(facts, withStages(facts, choices, blocks, instances), {4, 16}, others);
       }
       return others;
     }},
    // Wide stages: between nodes, a stage with many blocks passes on the data of each node as it arrives. It does not
    // wait for the data of other nodes.
    {.startsAnew = true,
     .others = [](const Facts &facts, const Candidate &from) -> ChoiceList {
       ChoiceList others;
       if (facts.hasNodes && mayBePipeline(facts, from.choices))
         divide(facts, withStages(facts, from.choices, 2 * Facts::usualBlocks, Facts::mostAtFirst / 4), {16}, others);
       return others;
     }},
    // Relay blocks: they take channels from blocks that have too many, which costs semaphores. With relay blocks, other
    // numbers of blocks fit.
    {.startsAnew = true,
     .others = [](const Facts &facts, const Candidate &from) -> ChoiceList {
       if (!facts.lacksChannels || (facts.isLarge && facts.anyFits))
         return {};
       return {with(from.choices, &ScheduleChoices::relayBlocks, true)};
     }},
    // Protocol: packets need no signal, and plain data is half as long as packets. For packets, other numbers of blocks
    // and instances are good.
    {.startsAnew = true,
     .others = [](const Facts &facts, const Candidate &from) -> ChoiceList {
       const bool toPackets = from.choices.protocol == ir::Protocol::Simple;
       if (!facts.choosesProtocol || (toPackets && !facts.packetsMayWin && !facts.asksForPackets))
         return {};
       return {with(from.choices, &ScheduleChoices::protocol, toPackets ? ir::Protocol::LL : ir::Protocol::Simple)};
     }},
    // Switch: it sums and multicasts plain data, so ranks move less data and need fewer blocks.
    {.startsAnew = true,
     .others = [](const Facts &facts, const Candidate &from) -> ChoiceList {
       if (!facts.usesSwitch || from.choices.protocol != ir::Protocol::Simple)
         return {};
       return {with(from.choices, &ScheduleChoices::throughSwitch, true)};
     }},
};

class Chooser {
public:
  Chooser(const ir::Program &program, const ChooseOptions &options)
      : options_(options), facts_(program, options), candidates_(program, options) {}

  /// Makes all moves from the first candidate, and from each candidate at which the search starts again.
  void search() {
    ChoiceList starts{firstOf(facts_)};
    for (std::size_t i = 0; i < starts.size(); ++i) {
      if (starts[i].relayBlocks)
        spent_ = 0; // most candidates without relay blocks were refused
      const Candidate start = score(starts[i]);
      Candidate best = start;
      for (const ChoiceMove &move : choiceMoves)
        for (bool again = !move.startsAnew || start.choices.step == 0; std::exchange(again, false);)
          for (const ScheduleChoices &choices : move.others(facts_, move.startsAnew ? anew(start, best) : best))
            if (const std::size_t before = tried().size(); move.startsAnew) {
              if (std::ranges::find(starts, choices) == starts.end())
                starts.push_back(choices);
            } else if (const Candidate other = score(choices); isBetter(other, best)) {
              best = other;
              again |=
                  tried().size() > before && (!facts_.isLarge || facts_.isOneRank || facts_.fitsLate || best.refused);
            }
    }
  }

  /// Returns the best candidate with its figures after all passes; nothing if all are refused.
  std::optional<Candidate> bestInTheEnd() {
    const std::optional<std::size_t> best = bestComplete();
    if (!best)
      return std::nullopt;
    const std::vector<Candidate> finished = finish(*best);
    const Candidate *inTheEnd = bestOf(finished);
    return inTheEnd ? *inTheEnd : candidates_.finish(*best);
  }

  /// Writes the best choices into `program`. If the search still has the program that it scheduled with these choices,
  /// that program replaces `program`.
  Choice take(ir::Program &program) {
    std::optional<std::size_t> best = bestComplete();
    // Among many programs, another one is likely to fit, and all passes on all ranks of a large one would take long.
    if (!best && options_.level == maxOptLevel && !(options_.timesOnly && facts_.isLarge))
      best = nearestFinished();
    if (!best) {
      // With relay blocks, a program needs fewer channels. So the passes do not report too many channels.
      program.movement.relayBlocks =
          std::ranges::any_of(tried(), [](const Candidate &one) { return one.choices.relayBlocks; });
      return {};
    }
    Choice choice{.choices = tried()[*best].choices, .tried = {}, .finished = finish(*best), .done = {}};
    if (const Candidate *inTheEnd = bestOf(choice.finished))
      best = candidates_.find(choice.choices = inTheEnd->choices);
    choice.nanoseconds = tried()[*best].nanoseconds;
    choice.candidates = static_cast<std::uint32_t>(tried().size());
    choice.refused = static_cast<std::uint32_t>(std::ranges::count(tried(), true, &Candidate::refused));
    apply(choice.choices, program);
    const std::shared_ptr<Made> made = candidates_.wayOf(*best).scheduled;
    if (options_.keeps && options_.level == maxOptLevel && made && made->isScheduled()) {
      program = std::move(made->passed.program);
      program.instances = choice.choices.instances;
      choice.done = std::move(made->passed.done);
    }
    choice.tried = candidates_.takeTried();
    return choice;
  }

private:
  /// Returns the candidate from which a search starts again. If the first candidate that fits came late, the search
  /// starts with the number of blocks of `best`.
  Candidate anew(Candidate start, const Candidate &best) const {
    if (facts_.fitsLate) {
      start.choices.blocks = best.choices.blocks;
      start.choices.instances =
          std::min(start.choices.instances, std::max(best.choices.instances, facts_.mostBlocks / best.choices.blocks));
    }
    return start;
  }
  static constexpr std::size_t mostFinished = 3;
  static constexpr double mayOvertake =
      1.2; ///< candidates within this factor of the best time go through all passes; pruning seldom gains more

  /// Tries a candidate. If the budget is spent, the candidate counts as refused.
  Candidate score(const ScheduleChoices &choices) {
    if (const auto found = candidates_.find(choices))
      return tried()[*found];
    if (const auto plain = candidates_.find(with(choices, &ScheduleChoices::relayBlocks, false));
        plain && !tried()[*plain].lacksChannels)
      return tried()[*plain];
    if (facts_.anyFits && spent_ >= facts_.budget)
      return {.choices = choices, .refused = true};
    const std::size_t before = candidates_.numMade(costly());
    const Candidate one =
        candidates_.tryOut(choices, {.isOnly = facts_.budget == 1 && tried().empty() && !options_.timesOnly,
                                     .unlessOneRank = facts_.triesOneRank(),
                                     .mustBeOneRank = facts_.isOneRank && facts_.program.movement.statements.size() >
                                                                              Facts::mostOfAllRanks});
    // One rank is planned and timed fast, so more candidates are tried.
    if (facts_.triesOneRank() && candidates_.isOneRank(tried().size() - 1)) {
      facts_.isOneRank = facts_.isLarge;
      facts_.budget = std::max(facts_.budget, facts_.isLarge ? Facts::largeAsOneRank : Facts::othersAsOneRank);
    }
    spent_ += !one.refused && candidates_.numMade(costly()) > before;
    // There is no limit until a candidate fits. A candidate that fits late is probably slow, so a few more are tried.
    if (!one.refused && !facts_.anyFits && tried().size() > facts_.budget) {
      facts_.fitsLate = true;
      facts_.budget = std::max(facts_.budget, Facts::fewTried);
    }
    facts_.anyFits |= !one.refused;
    facts_.exceedsLimits |= one.excess.isKnown();
    facts_.lacksChannels |= one.lacksChannels;
    return one;
  }
  const std::vector<Candidate> &tried() const { return candidates_.tried(); }
  /// Returns the part of the passes that takes most of the time. Timing takes little time if one rank represents all.
  Part costly() const { return facts_.isOneRank ? Part::Schedule : Part::Take; }

  /// Finds the unmeasured parameters on which the time of the best candidate rests. If there are any, does the same for
  /// the candidates that bestOf() may prefer to the best one. Does nothing if no other candidate is near the best one,
  /// unless programs are compared.
  void weigh() {
    const Candidate *best = bestOf(tried());
    if (!best)
      return;
    const double most = time::hedge * best->nanoseconds;
    std::vector<std::size_t> near;
    for (std::size_t i = 0; i < tried().size(); ++i)
      if (!tried()[i].refused && timeOf(i) <= most)
        near.push_back(i);
    if (near.size() == 1 && !options_.timesOnly)
      return;
    candidates_.weigh(best - tried().data());
    if (best->restsOn && best->restsOn->any())
      for (const std::size_t one : near)
        candidates_.weigh(one);
  }

  /// Returns the best candidate that is not refused when it is completed for all ranks.
  std::optional<std::size_t> bestComplete() {
    for (weigh(); const Candidate *best = bestOf(tried()); weigh())
      if (const std::size_t at = best - tried().data(); candidates_.complete(at))
        return at;
    return std::nullopt;
  }

  /// Runs all passes on the refused candidate that is nearest to an executor's limits. If the candidate then fits,
  /// returns its number.
  std::optional<std::size_t> nearestFinished() {
    const auto nearest =
        std::ranges::max_element(tried(), [](const Candidate &a, const Candidate &b) { return isBetter(b, a); });
    const std::size_t at = nearest - tried().begin();
    if (nearest == tried().end() || !nearest->excess.isKnown())
      return std::nullopt;
    candidates_.finishRefused(at);
    return tried()[at].refused ? std::nullopt : std::optional(at);
  }

  /// Runs all passes on `best` and the fastest others. Returns an empty list if this would take long, or if no other
  /// candidate is left to compare.
  std::vector<Candidate> finish(std::size_t best) {
    if (!facts_.isSmall)
      return {};
    std::vector<std::size_t> rivals;
    for (std::size_t i = 0; i < tried().size(); ++i)
      if (!tried()[i].refused && timeOf(i) <= mayOvertake * timeOf(best))
        rivals.push_back(i);
    if (rivals.size() == 1)
      return {};
    std::ranges::stable_sort(rivals, {}, [&](std::size_t i) { return std::pair(i != best, timeOf(i)); });
    std::vector<Candidate> finished;
    std::set<double> times; // candidates with equal times mostly have equal programs, of which one is enough
    for (const std::size_t i : rivals)
      if (finished.size() < mostFinished && times.insert(timeOf(i)).second) {
        candidates_.weigh(i); // called before complete(), because timing all ranks takes longer
        const std::optional<Candidate> inTheEnd = candidates_.complete(i) ? candidates_.finish(i) : std::nullopt;
        if (inTheEnd)
          finished.push_back(*inTheEnd);
      }
    return finished.size() > 1 ? finished : std::vector<Candidate>();
  }
  double timeOf(std::size_t candidate) const { return tried()[candidate].nanoseconds; }

  const ChooseOptions &options_;
  Facts facts_;
  Candidates candidates_;
  std::size_t spent_ = 0; ///< candidates that count against the budget
};

} // namespace

std::vector<TimeByBlocks> timesByBlocks(const ir::Program &program, const ChooseOptions &options) {
  const std::uint32_t most = mostBlocksOf(program, options);
  std::vector<TimeByBlocks> times;
  ir::Program limited = program;
  for (std::uint32_t limit = std::min(4u, most); limit != 0; limit = limit < most ? std::min(2 * limit, most) : 0) {
    limited.movement.mostBlocks = limit;
    Chooser chooser(limited, options);
    chooser.search();
    if (const std::optional<Candidate> best = chooser.bestInTheEnd())
      times.push_back({limit, best->threadBlocks, best->nanoseconds});
  }
  return times;
}

const Candidate *Choice::taken() const {
  const auto found = std::ranges::find(tried, choices, &Candidate::choices);
  return found == tried.end() ? nullptr : &*found;
}

Choice choose(ir::Program &program, const ChooseOptions &options) {
  Chooser chooser(program, options);
  chooser.search();
  return chooser.take(program);
}

} // namespace mscclc::passes::schedule
