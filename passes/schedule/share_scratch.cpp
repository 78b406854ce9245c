#include "passes/schedule/share_scratch.h"

#include "ir/chunk_cells.h"
#include "ir/program_index.h"
#include "passes/schedule/agent_clocks.h"
#include "passes/schedule/node_symmetry.h"
#include "passes/schedule/nodes.h"
#include "passes/schedule/statement_distances.h"
#include "passes/schedule/statement_graph.h"
#include "passes/schedule/statement_symmetry.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace mscclc::passes {
namespace {

using schedule::Clock;
using schedule::Nodes;
using schedule::StatementGraph;
using schedule::Touch;

/// Finds which uses are over when a statement begins. Relies only on the order that every schedule keeps: the order of
/// dependent statements in different blocks. The threads of the earlier block meet before it signals that its statement
/// is done. So its signal covers all earlier statements of that block. The threads of the later block meet before its
/// own statement, so all its later work comes after the signal. One thread does a port's put, and the other threads
/// need not meet before it. So the signal of a put covers only the put itself, and waits before the put hold only for
/// the put.
class FinishedUses {
public:
  FinishedUses(const ir::Program &program, const StatementGraph &graph, const schedule::StatementDistances &distances,
               const schedule::StatementSymmetry &symmetry)
      : statements_(program.movement.statements), nodes_(program, graph, distances, ir::none),
        symmetry_(program, graph, nodes_, distances.ranks(), symmetry), clocks_(nodes_.numAgents()),
        before_(symmetry_.representatives().size()) {
    std::vector<Clock> known(symmetry_.numRepresentativeAgents());
    for (std::uint32_t s = 0; s < graph.size(); ++s) {
      if (!symmetry_.isRepresentative(*statements_[s].by))
        continue;
      const std::uint32_t agent = placeOf(s).agent;
      Clock clock = known[agent];
      for (const schedule::Dependence &d : graph.dependences(s)) {
        const Nodes::Node &earlier = placeOf(d.on);
        if (earlier.agent == agent)
          continue;
        symmetry_.join(clocks_, clock, beforeOf(d.on), *statements_[d.on].by);
        if (!schedule::isPortPut(statements_[d.on]))
          clocks_.raise(clock, nodes_.inClocks(earlier.agent), earlier.index + 1);
      }
      before_[symmetry_.positionOf(nodes_.ofStatement(s))] = clock;
      if (!schedule::isPortPut(statements_[s]))
        known[agent] = std::move(clock);
    }
  }

  /// True if `use` is over when `statement` begins; false also if that is not known.
  bool isOver(std::uint32_t use, std::uint32_t statement) const {
    const std::uint32_t agent = symmetry_.agentSeenFrom(*statements_[statement].by, placeOf(use).agent);
    return clocks_.at(beforeOf(statement), nodes_.inClocks(agent)) > placeOf(use).index;
  }

private:
  const Nodes::Node &placeOf(std::uint32_t statement) const { return nodes_.at(nodes_.ofStatement(statement)); }
  /// Returns the clock before `statement`, as seen from the representative of its rank.
  const Clock &beforeOf(std::uint32_t statement) const {
    return before_[symmetry_.positionOf(nodes_.ofStatement(statement))];
  }

  const std::vector<ir::Move> &statements_;
  const Nodes nodes_;
  const schedule::NodeSymmetry symmetry_;
  schedule::AgentClocks clocks_; ///< numbers of nodes that are over in each block
  std::vector<Clock> before_;    ///< [node of a planned rank]
};

struct Slot {
  std::uint32_t index = 0, size = 0; ///< current place in scratch, in chunks
  std::uint32_t firstWrite = 0;
  /// When these uses are over, all uses of the slot are over.
  std::vector<std::uint32_t> lastUses{};
  bool isWriteLast = false; ///< no use follows the last write
  bool isAlone = false;     ///< the slot shares its place with no other slot
  std::uint32_t moved = 0;  ///< the slot's new index
};

class Sharing {
public:
  Sharing(ir::Program &program, Analyses &analyses)
      : program_(program), analyses_(analyses), graph_(analyses.of<StatementGraph>(program)),
        symmetry_(analyses.of<schedule::StatementSymmetry>(program).withBlocks(program.movement)),
        slots_(program.ranks.size()), chunks_(program.ranks.size(), 0) {}

  void run(PassStats &stats) {
    findUses();
    std::map<std::vector<std::uint32_t>, std::vector<std::uint32_t>> alike; // [sizes of slots]: ranks with such slots
    for (std::uint32_t r = 0; r < slots_.size(); ++r) {
      std::vector<std::uint32_t> sizes;
      std::ranges::transform(slots_[r], std::back_inserter(sizes), &Slot::size);
      alike[std::move(sizes)].push_back(r);
    }
    std::optional<FinishedUses> finished;
    if (mayShare())
      finished.emplace(program_, graph_, analyses_.of<schedule::StatementDistances>(program_), symmetry_);
    for (const auto &[sizes, ranks] : alike) {
      const bool compares = finished && sizes.size() * sizes.size() * ranks.size() <= mostCompared;
      findPlaces(ranks, sizes, compares ? &*finished : nullptr);
    }
    move(stats);
  }

private:
  void findUses() {
    auto numberOf = ir::forScratch(program_, ir::none); // [rank][chunk]: number of the slot that begins there
    for (std::uint32_t s = 0; s < graph_.size(); ++s)
      for (const Touch &touch : graph_.touches(s)) {
        if (!touch.inScratch())
          continue;
        const auto index = touch.begin;
        const bool writes = touch.access == ir::Access::Write;
        std::vector<Slot> &ofRank = slots_[touch.rank];
        std::uint32_t &number = numberOf[touch.rank][index];
        if (number == ir::none) {
          number = static_cast<std::uint32_t>(ofRank.size());
          ofRank.push_back({.index = index, .size = touch.end - touch.begin, .firstWrite = s, .isAlone = !writes});
        }
        Slot &slot = ofRank[number];
        // A write comes after all earlier uses. A read comes after the last write.
        if (writes || slot.isWriteLast)
          slot.lastUses.clear();
        slot.lastUses.push_back(s);
        slot.isWriteLast = writes;
      }
    // If no statement reads a put, no sync reports its arrival.
    for (std::vector<Slot> &ofRank : slots_)
      for (Slot &slot : ofRank)
        slot.isAlone |= slot.isWriteLast && schedule::isPortPut(program_.movement.statements[slot.lastUses[0]]);
  }

  /// True if, on some rank, all uses of a slot have lower levels than the first write of another slot. Otherwise no
  /// place can be reused, because a path of dependences from a use to a write gives the write a higher level.
  bool mayShare() const {
    const std::vector<std::uint32_t> &levels = graph_.levels();
    for (const std::vector<Slot> &ofRank : slots_) {
      std::uint32_t firstOver = ir::none, lastWrite = 0;
      for (const Slot &slot : ofRank) {
        std::uint32_t over = 0;
        for (const std::uint32_t use : slot.lastUses)
          over = std::max(over, levels[use]);
        firstOver = std::min(firstOver, over);
        lastWrite = std::max(lastWrite, levels[slot.firstWrite]);
      }
      if (firstOver < lastWrite)
        return true;
    }
    return false;
  }

  /// The largest number of comparisons of slots with places on all ranks. More would take seconds.
  static constexpr std::uint64_t mostCompared = std::uint64_t{1} << 26;

  /// For a place on each of several ranks: the last slot at this place.
  using LastSlots = std::vector<Slot *>;

  /// Returns the first of `ranks`, and all ranks that use their slots differently, as seen from each rank. Results for
  /// the first rank also hold for the ranks that are left out.
  std::vector<std::uint32_t> differing(const std::vector<std::uint32_t> &ranks) const {
    if (!symmetry_.holds())
      return ranks;
    const auto isUsedAlike = [&](std::uint32_t a, std::uint32_t b) {
      const auto isSeenAs = [&](std::uint32_t s, std::uint32_t t) {
        const std::vector<ir::Move> &statements = program_.movement.statements;
        return symmetry_.positionOf(s) == symmetry_.positionOf(t) &&
               symmetry_.seenFrom(a, *statements[s].by) == symmetry_.seenFrom(b, *statements[t].by);
      };
      return std::ranges::equal(slots_[a], slots_[b], [&](const Slot &x, const Slot &y) {
        return x.isAlone == y.isAlone && isSeenAs(x.firstWrite, y.firstWrite) &&
               std::ranges::equal(x.lastUses, y.lastUses, isSeenAs);
      });
    };
    std::vector<std::uint32_t> found{ranks.front()};
    std::ranges::copy_if(ranks, std::back_inserter(found),
                         [&](std::uint32_t rank) { return !isUsedAlike(rank, ranks.front()); });
    return found;
  }

  /// Finds places for the slots of `ranks`. Each of these ranks has slots of these `sizes`.
  void findPlaces(const std::vector<std::uint32_t> &ranks, const std::vector<std::uint32_t> &sizes,
                  const FinishedUses *finished) {
    std::vector<LastSlots> places;
    std::uint32_t chunks = 0;
    const std::vector<std::uint32_t> compared = finished ? differing(ranks) : ranks;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      LastSlots slots;
      for (const std::uint32_t rank : compared)
        slots.push_back(&slots_[rank][i]);
      auto place = finished
                       ? std::ranges::find_if(places, [&](const LastSlots &p) { return isFree(p, slots, *finished); })
                       : places.end();
      const bool isNew = place == places.end();
      const std::uint32_t moved = isNew ? chunks : place->front()->moved;
      for (const std::uint32_t rank : ranks)
        slots_[rank][i].moved = moved;
      if (isNew) {
        chunks += sizes[i];
        places.push_back(std::move(slots));
      } else {
        *place = std::move(slots);
      }
    }
    for (const std::uint32_t rank : ranks)
      chunks_[rank] = chunks;
  }
  static bool isFree(const LastSlots &place, const LastSlots &slots, const FinishedUses &finished) {
    if (place.front()->size != slots.front()->size)
      return false;
    for (std::size_t i = 0; i < place.size(); ++i) {
      if (place[i]->isAlone || slots[i]->isAlone)
        return false;
      for (const std::uint32_t use : place[i]->lastUses)
        if (!finished.isOver(use, slots[i]->firstWrite))
          return false;
    }
    return true;
  }

  /// Moves slots on all ranks if the scratch of any rank becomes smaller. All ranks move, so that they number slots in
  /// the same way.
  void move(PassStats &stats) {
    std::uint64_t saved = 0;
    for (std::size_t r = 0; r < slots_.size(); ++r) {
      const std::uint32_t chunks = program_.ranks[r].scratchChunks;
      saved += chunks - std::min(chunks, chunks_[r]);
    }
    analyses_.preserve<schedule::StatementDistances>();
    if (saved == 0)
      return analyses_.preserveAll();
    auto moved = ir::forScratch(program_, 0u); // old index → new index
    for (std::uint32_t r = 0; r < slots_.size(); ++r)
      for (const Slot &slot : slots_[r])
        moved[r][slot.index] = slot.moved;
    stats.count("scratch chunks saved", saved);
    for (std::size_t r = 0; r < slots_.size(); ++r)
      program_.ranks[r].scratchChunks = chunks_[r];
    for (ir::RankChunk &chunk : program_.movement.places)
      if (chunk.buffer == ir::BufferKind::Scratch)
        chunk.index = moved[chunk.rank][chunk.index];
  }

  ir::Program &program_;
  Analyses &analyses_;
  const StatementGraph &graph_;
  const schedule::StatementSymmetry symmetry_;
  std::vector<std::vector<Slot>> slots_; ///< [rank]: in the order of first writes
  std::vector<std::uint32_t> chunks_;    ///< [rank]: chunks of all places of its slots
};

/// False if scratch must stay unchanged.
bool canShare(const ir::Program &program) {
  if (program.doubleScratch || std::ranges::all_of(program.ranks, [](const auto &r) { return r.scratchChunks == 0; }))
    return false;
  auto sizes = ir::forScratch(program, 0u); // [rank][chunk]: size of the slot that begins there
  for (const ir::Move &statement : program.movement.statements) {
    if (statement.packets.value_or(false))
      return false;
    for (const ir::RankChunk &place : program.movement.placesOf(statement)) {
      if (place.buffer != ir::BufferKind::Scratch)
        continue;
      if (statement.via == ir::Via::Switch || place.size == 0)
        return false;
      if (std::uint32_t &size = sizes[place.rank][place.index]; size == 0)
        size = place.size;
      else if (size != place.size)
        return false;
    }
  }
  for (std::uint32_t r = 0; r < program.ranks.size(); ++r)
    for (std::uint32_t index = 0, end = 0; index < program.ranks[r].scratchChunks; ++index)
      if (const std::uint32_t size = sizes[r][index]; size != 0) {
        if (index < end)
          return false;
        end = index + size;
      }
  return true;
}

void shareScratch(PassContext &context) {
  if (!context.program.movement.statements.empty() && canShare(context.program))
    Sharing(context.program, context.analyses).run(context.stats);
  else
    context.analyses.preserveAll();
}

} // namespace

Pass createShareScratchPass() {
  return {.needs = Placed | Cut, .isOptional = true, .run = shareScratch};
}

} // namespace mscclc::passes
