#include "passes/schedule/launches.h"

#include "passes/schedule/agent_clocks.h"

#include <algorithm>
#include <optional>
#include <ranges>
#include <unordered_map>
#include <utility>

namespace mscclc::passes::schedule {
namespace {

/// The use of a rank's scratch by an agent. Each count is a number of nodes of the agent, after which all accesses of
/// one kind are over.
struct Use {
  std::uint32_t agent = 0;
  std::uint32_t reads = 0, writes = 0;
  std::uint32_t arrivals = 0; ///< writes by ports of other ranks, which complete at a node of this agent
  std::uint32_t allWrites() const { return std::max(writes, arrivals); }
};

/// A set of ranks, as a clock that counts 1 for each of them.
using RankSet = Clock;

/// Simulates launches one after the other, and follows what blocks know about the first launch. In the first launch,
/// blocks learn which nodes of other blocks are over. In later launches, each message also carries everything that the
/// sender's rank knew when its launch began. So a block has the knowledge of each rank whose launch it knows to have
/// begun.
class Relaunch {
public:
  Relaunch(const ir::Program &program, const StatementGraph &graph, const Nodes &nodes, const NodeSymmetry &symmetry,
           const Sources &sources, const std::vector<bool> &flushed, Entries &entries)
      : program_(program), graph_(graph), nodes_(nodes), symmetry_(symmetry), sources_(sources), entries_(entries),
        ranks_(static_cast<std::uint32_t>(program.ranks.size())), uses_(symmetry.numRepresentatives()),
        allOver_(program.ranks.size()), clocks_(nodes.numAgents()), sets_(ranks_),
        begun_(symmetry.numRepresentatives()) {
    for (const std::uint32_t n : symmetry.representatives()) {
      const Nodes::Node &place = nodes.at(n);
      const bool port = isPort(place.statement);
      for (const Touch &touch : graph.touches(place.statement)) {
        const bool away = touch.inScratch() && touch.rank != *program.movement.statements[place.statement].by;
        remote_ |= away;
        plainAway_ |= away && touch.access == ir::Access::Write && touch.form == ir::DataForm::Plain;
        // Data that a port puts is complete when it arrives.
        if (touch.inScratch() && (!port || (touch.access == ir::Access::Write) == place.arrives)) {
          Use &use = useOf(touch.rank, place.agent);
          if (touch.access == ir::Access::Read)
            use.reads = std::max(use.reads, port && !flushed[place.statement] ? wholeOf(place.agent) : place.index + 1);
          else
            (place.arrives ? use.arrivals : use.writes) = place.index + 1;
        }
      }
      if (!place.arrives)
        addTaken(place);
    }
    if (!remote_)
      return;
    findTold();
    isSource_.resize(symmetry.representatives().size(), false);
    for (const Source &source : sources.ofNodes())
      if (!source.begin)
        isSource_[symmetry.positionOf(source.node)] = true;
    for (const std::vector<Source> &atEnd : sources.ofEnd)
      for (const Source &source : atEnd)
        isSource_[symmetry.positionOf(source.node)] = true;
  }

  /// True if no rank uses scratch of another rank.
  bool isTrivial() const { return !remote_; }

  bool run() {
    runFirst();
    const std::uint32_t back = program_.doubleScratch ? 2 : 1;
    for (std::uint32_t launch = 1; launch <= back; ++launch) {
      if (launch > 1)
        begin();
      runLater(launch == back);
      // If packets tell every rank that this launch has begun on all ranks, all of the previous launch is over.
      if (std::ranges::all_of(allRanks(), [&](std::uint32_t rank) {
            for (std::uint32_t r = 0; r < begun_.size(); ++r)
              if (!hears(r, rank))
                return false;
            return true;
          }))
        break;
    }
    return missing_;
  }

private:
  std::ranges::iota_view<std::uint32_t, std::uint32_t> allRanks() const { return {0, ranks_}; }
  /// True if packets tell planned rank `r` that this launch has begun on `rank`. If ranks write plain data to scratch
  /// of each other, only packets from `rank` itself count: a packet does not order what its sender learnt from others.
  bool hears(std::uint32_t r, std::uint32_t rank) const {
    return plainAway_ ? rank == r || has(sending_[r], rank) : has(heard_[r], rank);
  }
  void add(RankSet &set, std::uint32_t rank) { sets_.raise(set, rank, 1); }
  bool has(const RankSet &set, std::uint32_t rank) const { return sets_.at(set, rank) != 0; }
  bool isPort(std::uint32_t statement) const { return isPortPut(program_.movement.statements[statement]); }
  /// If the statement of a node takes packets that a port has put, notes that the port has read the source of these
  /// packets.
  void addTaken(const Nodes::Node &place) {
    for (const Dependence &d : graph_.dependences(place.statement)) {
      const ir::Move &earlier = program_.movement.statements[d.on];
      if (d.hazard == Hazard::Packets && earlier.via == ir::Via::Port)
        useOf(*earlier.by, place.agent).reads = place.index + 1;
    }
  }
  /// For each node, finds the ranks whose launch must have begun when packets of this node arrive. A put depends on the
  /// data that its block has taken. So a packet shows that everything before this data has happened.
  void findTold() {
    const auto &statements = program_.movement.statements;
    if (std::ranges::none_of(statements, [](const ir::Move &s) { return s.packets.value_or(false); }))
      return;
    told_.resize(symmetry_.representatives().size());
    eachPlanned([&](std::uint32_t n, std::uint32_t planned) {
      const Nodes::Node &place = nodes_.at(n);
      add(told_[planned], nodes_.rankOf(place.agent));
      for (const Dependence &d : graph_.dependences(place.statement))
        if (d.hazard != Hazard::Reuse)
          unite(told_[planned], told_, nodes_.ofStatement(d.on));
    });
  }
  /// Visits the nodes of planned ranks, each with its position among them.
  void eachPlanned(auto &&visit) const {
    for (const std::uint32_t n : symmetry_.representatives())
      visit(n, symmetry_.positionOf(n));
  }
  /// Adds to `set` the set that `byNode` has for `node`.
  void unite(RankSet &set, const std::vector<RankSet> &byNode, std::uint32_t node) {
    symmetry_.join(sets_, set, byNode[symmetry_.positionOf(node)], nodes_.rankOf(nodes_.at(node).agent));
  }
  /// Returns the use of scratch of `rank` by `agent`, which belongs to a planned rank. The use is stored with the
  /// number by which the representative of `rank` sees the agent.
  Use &useOf(std::uint32_t rank, std::uint32_t agent) {
    agent = symmetry_.agentSeenFrom(rank, agent);
    rank = symmetry_.representative(rank);
    const auto [at, isNew] = useAt_.try_emplace(std::uint64_t{rank} << 32 | agent, uses_[rank].size());
    if (isNew)
      uses_[rank].push_back({.agent = agent});
    return uses_[rank][at->second];
  }
  /// Visits all uses of scratch of `rank`.
  void eachUse(std::uint32_t rank, auto &&visit) const {
    for (Use use : uses_[symmetry_.representative(rank)]) {
      if (symmetry_.holds())
        use.agent = symmetry_.imageOfAgent(use.agent, rank);
      visit(use);
    }
  }
  /// Returns the count of an agent that has ended: all its nodes, and one more for the flush after them.
  std::uint32_t wholeOf(std::uint32_t agent) const { return nodes_.lengthOf(agent) + 1; }
  void raise(Clock &clock, std::uint32_t agent, std::uint32_t nodes) {
    clocks_.raise(clock, nodes_.inClocks(agent), nodes);
  }
  /// Simulates the first launch, and finds what each rank knows when the next launch begins.
  void runFirst() {
    std::vector<Clock> known(symmetry_.numRepresentativeAgents()), after(symmetry_.representatives().size());
    const auto learn = [&](Clock &clock, std::uint32_t node, std::uint32_t nodes) {
      const std::uint32_t agent = nodes_.at(node).agent;
      symmetry_.join(clocks_, clock, after[symmetry_.positionOf(node)], nodes_.rankOf(agent));
      raise(clock, agent, nodes);
    };
    eachPlanned([&](std::uint32_t n, std::uint32_t planned) {
      const Nodes::Node &place = nodes_.at(n);
      for (const Source &source : sources_.ofNode(planned))
        if (!source.begin)
          learn(known[place.agent], source.node,
                place.arrives ? nodes_.countAtArrival(source.node) : nodes_.at(source.node).index + 1);
      if (isSource_[planned])
        after[planned] = known[place.agent];
    });
    for (std::uint32_t a = 0; a < known.size(); ++a) {
      Clock &begun = begun_[nodes_.rankOf(a)];
      clocks_.join(begun, known[a]);
      for (const Source &source : sources_.ofEnd[a])
        learn(begun, source.node, nodes_.at(source.node).index + 1);
    }
    for (std::uint32_t a = 0; a < known.size(); ++a)
      raise(begun_[nodes_.rankOf(a)], a, wholeOf(a));
  }
  /// Begins a launch. A rank's launch begins after its previous launch has ended. So everything that happened before a
  /// block of the rank ended also happens before each block begins. The same holds for everything that happened before
  /// another rank sent packets to this rank. But packets do not make plain writes visible. So if there are plain writes
  /// to scratch of other ranks, a packet of the new launch orders only the previous launch of its sender's own blocks.
  /// Writes of these blocks are visible to the ranks that get packets from the sender. But writes by ports that
  /// completed at the sender's blocks are not.
  void begin() {
    std::vector<Clock> begun, shown;
    for (std::uint32_t r = 0; r < begun_.size(); ++r) {
      RankSet known;
      for (auto [a, last] = nodes_.agentsOf(r); a < last; ++a)
        sets_.join(known, hasBegun_[a]);
      if (!plainAway_)
        sets_.join(known, heard_[r]);
      Clock all;
      for (const std::uint32_t rank : allRanks())
        if (has(known, rank))
          symmetry_.join(clocks_, all, begun_[symmetry_.representative(rank)], rank);
      if (plainAway_) {
        shown.push_back(all);
        for (const std::uint32_t rank : allRanks())
          for (auto [a, last] = nodes_.agentsOf(rank); hears(r, rank) && a < last; ++a)
            raise(all, a, wholeOf(a));
      }
      begun.push_back(std::move(all));
    }
    begun_ = std::move(begun);
    shown_ = std::move(shown);
    sentTo_ = std::exchange(sending_, {});
  }
  /// True if the writes of `use` in the first launch are visible to rank `planned` when its launch begins. `use` has
  /// the agent's number as `planned` sees it.
  bool isShown(std::uint32_t planned, const Use &use) {
    if (shown_.empty()) // everything that is known to be over is visible
      return true;
    const std::uint32_t shown = clocks_.at(shown_[planned], nodes_.inClocks(use.agent));
    return shown >= use.arrivals && (shown >= use.writes || has(sentTo_[planned], nodes_.rankOf(use.agent)));
  }
  void runLater(bool checks) {
    const std::uint32_t agents = symmetry_.numRepresentativeAgents();
    heard_.assign(begun_.size(), {});
    sending_.assign(begun_.size(), {});
    hasBegun_.assign(agents, {});
    for (std::uint32_t a = 0; a < agents; ++a)
      add(hasBegun_[a], nodes_.rankOf(a));
    over_.assign(agents, {});
    isOver_.assign(begun_.size(), {});
    std::vector<RankSet> after(symmetry_.representatives().size());
    eachPlanned([&](std::uint32_t n, std::uint32_t planned) {
      const Nodes::Node &place = nodes_.at(n);
      for (const Source &source : sources_.ofNode(planned))
        if (source.byPackets) {
          sets_.join(heard_[nodes_.rankOf(place.agent)], told_[planned]);
          add(sending_[nodes_.rankOf(place.agent)], nodes_.rankOf(source.node));
        } else if (source.begin)
          add(hasBegun_[place.agent], nodes_.rankOf(source.node));
        else
          unite(hasBegun_[place.agent], after, source.node);
      if (checks && !place.arrives)
        for (const Touch &touch : graph_.touches(place.statement))
          if (touch.inScratch())
            check(n, touch);
      if (isSource_[planned])
        after[planned] = hasBegun_[place.agent];
    });
    for (std::uint32_t a = 0; a < agents; ++a)
      for (const Source &source : sources_.ofEnd[a])
        unite(hasBegun_[a], after, source.node);
  }
  /// True if `rank` knows, when its launch begins, that all uses of the scratch of rank `scratch` in the first launch
  /// are over.
  bool knowsOver(std::uint32_t rank, std::uint32_t scratch) {
    const std::uint32_t planned = symmetry_.representative(rank), seen = symmetry_.seenFrom(rank, scratch);
    std::vector<std::optional<bool>> &answers = isOver_[planned];
    answers.resize(allOver_.size());
    std::optional<bool> &known = answers[seen];
    if (!known) {
      known = clocks_.covers(begun_[planned], allOver(seen));
      eachUse(seen, [&](const Use &use) { known = *known && isShown(planned, use); });
    }
    return *known;
  }
  /// Returns the clock at which all uses of scratch of `rank` in the first launch are over.
  const Clock &allOver(std::uint32_t rank) {
    std::optional<Clock> &over = allOver_[rank];
    if (over)
      return *over;
    over.emplace();
    bool awaitsBlocks = false;
    eachUse(rank, [&](const Use &use) {
      raise(*over, use.agent, std::max(use.reads, use.allWrites()));
      if (!awaitsBlocks && nodes_.rankOf(use.agent) != rank && use.allWrites() != 0) {
        awaitsBlocks = true;
        for (auto [agent, last] = nodes_.agentsOf(rank); agent < last; ++agent)
          raise(*over, agent, nodes_.lengthOf(agent));
      }
    });
    return *over;
  }
  /// Checks that all accesses of the first launch that conflict with `touch` have completed before node `n`. Adds
  /// entries if that is not known. Packets do not make writes of other ranks visible. But when a launch ends, the owner
  /// of scratch has taken all data that arrived there.
  void check(std::uint32_t n, const Touch &touch) {
    const std::uint32_t own = nodes_.at(n).agent, rank = nodes_.rankOf(own);
    // An access that has completed before one node of a block has also completed before later nodes.
    const bool writes = touch.access == ir::Access::Write;
    std::vector<bool> &over = over_[own];
    over.resize(2 * program_.ranks.size(), false);
    const std::size_t question = std::size_t{2} * touch.rank;
    if (over[question + writes])
      return;
    over[question] = true;
    over[question + 1] = over[question + 1] || writes;
    if (knowsOver(rank, touch.rank) || (has(hasBegun_[own], touch.rank) && knowsOver(touch.rank, touch.rank)))
      return;
    bool awaitsBlocks = false; // true: waits for the blocks of the owner of the scratch
    eachUse(touch.rank, [&](const Use &use) {
      const std::uint32_t user = nodes_.rankOf(use.agent);
      const std::uint32_t needed = std::max(writes ? use.reads : 0, use.allWrites());
      if (needed == 0 || user == rank)
        return;
      require(n, needed, use);
      if (!awaitsBlocks && user != touch.rank && use.allWrites() != 0 && touch.rank != rank) {
        awaitsBlocks = true;
        for (auto [agent, last] = nodes_.agentsOf(touch.rank); agent < last; ++agent)
          require(n, nodes_.lengthOf(agent), {.agent = agent});
      }
    });
  }
  /// Makes node `n` begin after `count` nodes of the agent of `use` in the first launch are over, and after the writes
  /// of `use` are visible. If the node does not know this, it waits for the beginning of the launch on the agent's
  /// rank.
  void require(std::uint32_t n, std::uint32_t count, const Use &use) {
    const Nodes::Node &place = nodes_.at(n);
    const std::uint32_t rank = nodes_.rankOf(use.agent);
    const auto knows = [&](std::uint32_t other) {
      if (!has(hasBegun_[place.agent], other))
        return false;
      const std::uint32_t planned = symmetry_.representative(other);
      Use seen = use;
      seen.agent = symmetry_.agentSeenFrom(other, use.agent);
      return clocks_.at(begun_[planned], nodes_.inClocks(seen.agent)) >= count && isShown(planned, seen);
    };
    if (has(hasBegun_[place.agent], rank) || std::ranges::any_of(allRanks(), knows))
      return;
    missing_ |= entries_[place.statement].insert(rank).second;
    add(hasBegun_[place.agent], rank);
  }

  const ir::Program &program_;
  const StatementGraph &graph_;
  const Nodes &nodes_;
  const NodeSymmetry &symmetry_;
  const Sources &sources_;
  Entries &entries_;
  const std::uint32_t ranks_;
  std::vector<std::vector<Use>> uses_;                   ///< [planned rank]: the uses of its scratch
  std::unordered_map<std::uint64_t, std::size_t> useAt_; ///< (rank, agent): index into uses_
  std::vector<std::optional<Clock>> allOver_;            ///< [rank]: see allOver()
  AgentClocks clocks_;         ///< each entry: number of an agent's nodes of the first launch that are over
  AgentClocks sets_;           ///< sets of ranks, kept as clocks
  std::vector<bool> isSource_; ///< [node]: true if other nodes wait for it
  std::vector<Clock> begun_;   ///< [rank]: its knowledge when its launch begins
  std::vector<Clock> shown_;   ///< [rank]: its knowledge without packets; empty if packets make no difference
  std::vector<RankSet> told_;  ///< [node]: ranks whose launch has begun when packets of this node arrive
  std::vector<RankSet> heard_; ///< [rank]: ranks whose launch has begun, as known from packets
  std::vector<RankSet> sending_,
      sentTo_;                    ///< [rank]: the ranks that send it packets in this launch, and in the previous one
  std::vector<RankSet> hasBegun_; ///< [agent]: ranks whose launch it knows to have begun
  /// [agent][rank][read, write]: see check(). Empty for an agent without checks. If many ranks have nothing to do, most
  /// agents have none. The same applies to isOver_.
  std::vector<std::vector<bool>> over_;
  std::vector<std::vector<std::optional<bool>>> isOver_; ///< [rank][rank]: see knowsOver()
  bool remote_ = false, missing_ = false;
  bool plainAway_ = false; ///< plain data is written to scratch of other ranks
};

} // namespace

bool addMissingEntries(const ir::Program &program, const StatementGraph &graph, const Nodes &nodes,
                       const NodeSymmetry &symmetry, const Sources &sources, const std::vector<bool> &flushed,
                       Entries &entries) {
  Relaunch relaunch(program, graph, nodes, symmetry, sources, flushed, entries);
  return !relaunch.isTrivial() && relaunch.run();
}

} // namespace mscclc::passes::schedule
