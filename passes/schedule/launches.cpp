#include "passes/schedule/launches.h"

#include "passes/schedule/agent_clocks.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <span>
#include <unordered_map>
#include <utility>

namespace mscclc::passes::schedule {
namespace {

/// How many of an agent's nodes have to be over, so that all are that use some scratch.
struct Use {
  std::uint32_t agent = 0;
  std::uint32_t reads = 0, writes = 0;
};

class Relaunch {
public:
  Relaunch(const ir::Program &program, const StatementGraph &graph, const Nodes &nodes, const Sources &sources,
           Entries &entries)
      : program_(program), graph_(graph), nodes_(nodes), sources_(sources), entries_(entries),
        uses_(program.ranks.size()), allOver_(program.ranks.size()), clocks_(nodes.numAgents()),
        known_(nodes.numAgents()), atEnd_(program.ranks.size()), words_((program.ranks.size() + 63) / 64),
        after_(nodes.size()) {
    for (std::uint32_t n = 0; n < nodes.size(); ++n) {
      const Nodes::Place &place = nodes.at(n);
      const bool port = isPort(place.statement);
      for (const Touch &touch : graph.touches(place.statement)) {
        const bool away = touch.inScratch() && touch.rank != *program.movement.statements[place.statement].by;
        remote_ |= away;
        plainAway_ |= away && touch.access == ir::Access::Write && touch.form == ir::DataForm::Plain;
        // What a port puts is over with its arrival.
        if (touch.inScratch() && (!port || (touch.access == ir::Access::Write) == place.arrives)) {
          Use &use = useOf(touch.rank, place.agent);
          (touch.access == ir::Access::Read ? use.reads : use.writes) = place.index + 1;
        }
      }
      if (!place.arrives)
        addTaken(place);
    }
    findTold();
    for (std::uint32_t r = 0; r < program.ranks.size(); ++r)
      for (const Use &use : uses_[r]) {
        clocks_.raise(allOver_[r], use.agent, std::max(use.reads, use.writes));
        if (nodes.rankOf(use.agent) != r && use.writes != 0)
          for (auto [agent, last] = nodes.agentsOf(r); agent < last; ++agent)
            clocks_.raise(allOver_[r], agent, nodes.lengthOf(agent));
      }
    isSource_.resize(nodes.size(), false);
    for (const auto *all : {&sources.ofNode, &sources.ofEnd})
      for (const std::vector<Source> &some : *all)
        for (const Source &source : some)
          if (!source.begin)
            isSource_[source.node] = true;
  }

  /// True if nobody but the rank itself uses any scratch.
  bool isTrivial() const { return !remote_; }

  bool run() {
    const std::uint32_t back = program_.doubleScratch ? 2 : 1;
    for (std::uint32_t launch = 0; launch <= back; ++launch) {
      begin(launch);
      over_.assign(launch == back ? std::size_t{2} * nodes_.numAgents() * program_.ranks.size() : 0, false);
      for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
        step(n, launch);
        if (launch == back && !nodes_.at(n).arrives)
          for (const Touch &touch : graph_.touches(nodes_.at(n).statement))
            if (touch.inScratch())
              check(n, touch);
        if (isSource_[n])
          after_[n] = known_[nodes_.at(n).agent];
      }
      for (std::uint32_t a = 0; a < nodes_.numAgents(); ++a)
        for (const Source &source : sources_.ofEnd[a])
          learn(known_[a], source.node, launch, nodes_.at(source.node).index + 1);
    }
    return missing_;
  }

private:
  bool isPort(std::uint32_t statement) const { return isPortPut(program_.movement.statements[statement]); }
  /// A port has read the packets that it puts when somebody takes them where they arrive.
  void addTaken(const Nodes::Place &place) {
    for (const Dependence &d : graph_.dependences(place.statement)) {
      const ir::Move &earlier = program_.movement.statements[d.on];
      if (d.hazard == Hazard::Packets && earlier.via == ir::Via::Port)
        useOf(*earlier.by, place.agent).reads = place.index + 1;
    }
  }
  /// What is put depends on what was taken, so each packet tells of all that came before its data was there.
  void findTold() {
    const auto &statements = program_.movement.statements;
    if (std::ranges::none_of(statements, [](const ir::Move &s) { return s.packets.value_or(false); }))
      return;
    told_.assign(nodes_.size() * words_, 0);
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
      const Nodes::Place &place = nodes_.at(n);
      const std::span<std::uint64_t> own = toldTo(n);
      const std::uint32_t rank = nodes_.rankOf(place.agent);
      own[rank / 64] |= std::uint64_t{1} << rank % 64;
      for (const Dependence &d : graph_.dependences(place.statement))
        if (d.hazard != Hazard::Reuse)
          std::ranges::transform(own, toldTo(nodes_.ofStatement(d.on)), own.begin(), std::bit_or{});
    }
  }
  std::span<std::uint64_t> toldTo(std::uint32_t node) { return std::span(told_).subspan(node * words_, words_); }
  Use &useOf(std::uint32_t rank, std::uint32_t agent) {
    const auto [at, isNew] = useAt_.try_emplace(std::uint64_t{rank} << 32 | agent, uses_[rank].size());
    if (isNew)
      uses_[rank].push_back({agent, 0, 0});
    return uses_[rank][at->second];
  }
  std::uint32_t count(std::uint32_t launch, std::uint32_t agent, std::uint32_t nodes) const {
    return launch * nodes_.lengthOf(agent) + nodes;
  }
  /// What was known when `node` was over, and that `nodes` of its agent were over in this launch.
  void learn(Clock &clock, std::uint32_t node, std::uint32_t launch, std::uint32_t nodes) {
    clocks_.join(clock, after_[node]);
    clocks_.raise(clock, nodes_.at(node).agent, count(launch, nodes_.at(node).agent, nodes));
  }

  /// A launch of a rank begins when its last one has ended: its blocks know what any of them knew.
  void begin(std::uint32_t launch) {
    heard_.assign(program_.ranks.size() * words_, 0);
    begun_.clear();
    for (std::uint32_t r = 0; r < program_.ranks.size(); ++r) {
      const auto [first, last] = nodes_.agentsOf(r);
      Clock all = atEnd_[r];
      for (std::uint32_t a = first; a < last; ++a)
        clocks_.join(all, known_[a]);
      for (std::uint32_t a = first; a < last; ++a)
        clocks_.raise(all, a, count(launch, a, 0));
      std::fill(known_.begin() + first, known_.begin() + last, all);
      begun_.push_back(std::move(all));
    }
  }
  void step(std::uint32_t n, std::uint32_t launch) {
    const Nodes::Place &place = nodes_.at(n);
    for (const Source &source : sources_.ofNode[n])
      if (source.byPackets)
        hearByPackets(n, launch);
      else if (source.begin)
        clocks_.join(known_[place.agent], begun_[nodes_.rankOf(source.node)]);
      else
        learn(known_[place.agent], source.node, launch,
              place.arrives ? nodes_.countAtArrival(source.node) : nodes_.at(source.node).index + 1);
  }
  /// What packets tell holds for all of the rank when its launch ends. They make no plain write visible: where there
  /// are such in scratch, that a rank has begun a launch tells of its own blocks alone, which have ended the one
  /// before.
  void hearByPackets(std::uint32_t n, std::uint32_t launch) {
    const std::uint32_t own = nodes_.rankOf(nodes_.at(n).agent);
    const std::span<const std::uint64_t> told = toldTo(n);
    for (std::size_t word = 0; word < words_; ++word) {
      std::uint64_t &heard = heard_[own * words_ + word];
      for (std::uint64_t news = told[word] & ~std::exchange(heard, heard | told[word]); news != 0; news &= news - 1) {
        const auto rank = static_cast<std::uint32_t>(word * 64 + static_cast<std::size_t>(std::countr_zero(news)));
        if (!plainAway_)
          clocks_.join(atEnd_[own], begun_[rank]);
        for (auto [a, last] = nodes_.agentsOf(rank); a < last; ++a)
          clocks_.raise(atEnd_[own], a, count(launch, a, 0));
      }
    }
  }
  /// Whether all that conflicts with the touch in the first launch is over. What packets tell makes no write of another
  /// rank's visible; but the rank that scratch is of has taken what came there, when its launch ends.
  void check(std::uint32_t n, const Touch &touch) {
    const std::uint32_t own = nodes_.at(n).agent, rank = nodes_.rankOf(own);
    // What was over for one node of a block is over for those after it.
    const bool writes = touch.access == ir::Access::Write;
    const std::size_t question = 2 * (std::size_t{own} * program_.ranks.size() + touch.rank);
    if (over_[question + writes])
      return;
    over_[question] = true;
    over_[question + 1] = over_[question + 1] || writes;
    if (clocks_.covers(known_[own], allOver_[touch.rank]))
      return;
    bool awaitsBlocks = false; // of the rank that scratch is of
    for (const Use &use : uses_[touch.rank]) {
      const std::uint32_t user = nodes_.rankOf(use.agent);
      const std::uint32_t needed = std::max(writes ? use.reads : 0, use.writes);
      if (needed == 0 || user == rank)
        continue;
      require(n, use.agent, needed);
      if (!awaitsBlocks && user != touch.rank && use.writes != 0 && touch.rank != rank) {
        awaitsBlocks = true;
        for (auto [agent, last] = nodes_.agentsOf(touch.rank); agent < last; ++agent)
          require(n, agent, nodes_.lengthOf(agent));
      }
    }
  }
  /// Node `n` begins when `count` nodes of `agent` in the first launch are over, or else waits for its launch.
  void require(std::uint32_t n, std::uint32_t agent, std::uint32_t count) {
    const Nodes::Place &place = nodes_.at(n);
    const std::uint32_t rank = nodes_.rankOf(agent);
    if (clocks_.at(known_[place.agent], agent) >= count)
      return;
    missing_ |= entries_[place.statement].insert(rank).second;
    clocks_.join(known_[place.agent], begun_[rank]);
  }

  const ir::Program &program_;
  const StatementGraph &graph_;
  const Nodes &nodes_;
  const Sources &sources_;
  Entries &entries_;
  std::vector<std::vector<Use>> uses_;                   ///< [rank whose scratch it is]
  std::unordered_map<std::uint64_t, std::size_t> useAt_; ///< (rank, agent): its place in uses_
  std::vector<Clock> allOver_;       ///< [rank]: all of the first launch is over that may matter to its scratch
  AgentClocks clocks_;               ///< count nodes that are over, through all launches; not the agent's own
  std::vector<Clock> known_;         ///< [agent]
  std::vector<Clock> atEnd_;         ///< [rank]: what its blocks know besides when its launch has ended
  std::size_t words_;                ///< that have a bit for each rank
  std::vector<std::uint64_t> told_;  ///< [node] words: packets that it puts, or takes, tell which launches have begun
  std::vector<std::uint64_t> heard_; ///< [rank] words: which of these its blocks were told of, in this launch
  std::vector<bool> isSource_;       ///< [node]: others wait for it
  std::vector<Clock> after_;         ///< [node] of these: what is known then
  std::vector<Clock> begun_;         ///< [rank]
  std::vector<bool> over_;           ///< [agent][rank][read, write]: see check()
  bool remote_ = false, missing_ = false;
  bool plainAway_ = false; ///< what is no packet is written to scratch of other ranks
};

} // namespace

bool addMissingEntries(const ir::Program &program, const StatementGraph &graph, const Nodes &nodes,
                       const Sources &sources, Entries &entries) {
  Relaunch relaunch(program, graph, nodes, sources, entries);
  return !relaunch.isTrivial() && relaunch.run();
}

} // namespace mscclc::passes::schedule
