#include "passes/synthesize/unit_graph.h"

#include <algorithm>
#include <numeric>

namespace mscclc::passes::synthesize {

UnitGraph::UnitGraph(const time::LinkGraph &graph, const Fraction &unit, const std::vector<bool> &isSource,
                     std::int64_t trees)
    : vertices_(graph.vertices()), perNode_(graph.perNode),
      capacities_(std::size_t{graph.vertices()} * graph.vertices()) {
  __extension__ using Wide = __int128;
  for (const bool is : isSource)
    roots.push_back(is ? trees : 0);
  for (const time::Link &link : graph.links)
    capacity(link.from, link.to) += static_cast<std::int64_t>(Wide{link.rate} * unit.den / unit.num);
  balanceSwitches();
}

/// Makes the capacities in and out of each switch equal. Each step takes capacity from the widest link on the side that
/// has more. So the number of steps is limited.
void UnitGraph::balanceSwitches() {
  for (bool again = true; again;) {
    again = false;
    for (std::uint32_t w = gpus(); w < vertices_; ++w) {
      std::int64_t in = 0, out = 0;
      for (std::uint32_t v = 0; v < vertices_; ++v) {
        in += capacity(v, w);
        out += capacity(w, v);
      }
      for (; in != out; again = true) {
        std::int64_t *widest = nullptr;
        for (std::uint32_t v = 0; v < vertices_; ++v)
          if (std::int64_t &one = in > out ? capacity(v, w) : capacity(w, v); !widest || one > *widest)
            widest = &one;
        --*widest;
        --(in > out ? in : out);
      }
    }
  }
}

std::int64_t UnitGraph::totalTrees() const {
  return std::accumulate(roots.begin(), roots.end(), std::int64_t{0});
}

MaxFlow UnitGraph::network(std::uint32_t more) const {
  MaxFlow network(vertices_ + more);
  for (std::uint32_t from = 0; from < vertices_; ++from)
    for (std::uint32_t to = 0; to < vertices_; ++to)
      if (capacity(from, to) > 0)
        network.add(from, to, capacity(from, to));
  for (std::uint32_t gpu = 0; gpu < gpus(); ++gpu)
    if (roots[gpu] > 0)
      network.add(vertices_, gpu, roots[gpu]);
  return network;
}

time::LinkGraph UnitGraph::links() const {
  time::LinkGraph graph{.gpus = gpus(), .switches = {}, .links = {}, .perNode = perNode_};
  graph.switches.resize(vertices_ - gpus());
  for (std::uint32_t from = 0; from < vertices_; ++from)
    for (std::uint32_t to = 0; to < vertices_; ++to)
      if (capacity(from, to) > 0)
        graph.links.push_back({from, to, static_cast<std::uint64_t>(capacity(from, to))});
  return graph;
}

LinkSymmetry UnitGraph::symmetry() const {
  return LinkSymmetry(links());
}

bool UnitGraph::reachesAll() const {
  MaxFlow flows = network(1);
  const std::int64_t all = totalTrees();
  const bool allAre = std::ranges::all_of(roots, [&](std::int64_t trees) { return trees == roots[0]; });
  const std::uint32_t represent = allAre ? symmetry().numRepresentatives() : gpus();
  for (std::uint32_t gpu = 0; gpu < represent; ++gpu)
    if (flows.flow(vertices_, gpu, all) < all)
      return false;
  return true;
}

namespace {

using Amount = std::int64_t;

/// Splits one switch off.
class Splitter {
public:
  Splitter(UnitGraph &graph, std::uint32_t hub) : graph_(graph), hub_(hub) {}

  bool run() {
    if (isDone())
      return true;
    const UnitGraph before = graph_;
    if (splitEvenly() && graph_.reachesAll())
      return true;
    graph_ = before;
    return splitExactly();
  }

  /// Replaces the switch by direct links between its neighbours. A neighbour gets links to the neighbours at all
  /// distances, as equally as possible. A distance consists of a number of groups and a number of places inside a
  /// group. Returns false if the switch has some capacity left.
  bool splitEvenly();

private:
  Amount &in(std::uint32_t from) { return graph_.capacity(from, hub_); }
  Amount &out(std::uint32_t to) { return graph_.capacity(hub_, to); }

  void split(std::uint32_t from, std::uint32_t to, Amount amount) {
    in(from) -= amount;
    out(to) -= amount;
    if (from != to)
      graph_.capacity(from, to) += amount;
  }

  bool isDone() {
    for (std::uint32_t v = 0; v < graph_.vertices(); ++v)
      if (in(v) != 0 || out(v) != 0)
        return false;
    return true;
  }

  /// Returns the neighbours of the switch, divided into groups that stay connected without it. For a switch between
  /// nodes, these groups are the nodes.
  std::vector<std::vector<std::uint32_t>> groups() {
    std::vector<std::vector<std::uint32_t>> groups;
    std::vector<bool> seen(graph_.vertices(), false);
    seen[hub_] = true;
    for (std::uint32_t first = 0; first < graph_.vertices(); ++first) {
      if (seen[first] || (in(first) == 0 && out(first) == 0))
        continue;
      seen[first] = true;
      std::vector<std::uint32_t> found{first};
      for (std::size_t i = 0; i < found.size(); ++i)
        for (std::uint32_t v = 0; v < graph_.vertices(); ++v)
          if (!seen[v] && (graph_.capacity(found[i], v) > 0 || graph_.capacity(v, found[i]) > 0)) {
            seen[v] = true;
            found.push_back(v);
          }
      std::erase_if(found, [&](std::uint32_t v) { return in(v) == 0 && out(v) == 0; });
      std::ranges::sort(found);
      groups.push_back(std::move(found));
    }
    return groups;
  }

  /// Returns the amount that may be split off a pair of links. Each cut that loses capacity by this split must be able
  /// to spare it.
  Amount most(std::uint32_t from, std::uint32_t to) {
    const Amount pair = std::min(in(from), out(to)), trees = graph_.totalTrees();
    const std::uint32_t roots = graph_.vertices(), source = roots + 1, sink = roots + 2;
    Amount spare = pair;
    // A cut loses capacity if `from` and `to` are on one side and the switch is on the other side.
    for (const bool hubIsBehind : {true, false}) {
      MaxFlow flows = graph_.network(3);
      flows.add(source, roots, MaxFlow::unlimited);
      for (const std::uint32_t end : {from, to})
        hubIsBehind ? flows.add(source, end, MaxFlow::unlimited) : flows.add(end, sink, MaxFlow::unlimited);
      hubIsBehind ? flows.add(hub_, sink, MaxFlow::unlimited) : flows.add(source, hub_, MaxFlow::unlimited);
      std::vector<std::uint32_t> toSink;
      for (std::uint32_t gpu = 0; gpu < graph_.gpus(); ++gpu)
        toSink.push_back(flows.add(gpu, sink, 0));
      for (std::uint32_t gpu = 0; gpu < graph_.gpus() && spare > 0; ++gpu) {
        if (hubIsBehind && (gpu == from || gpu == to))
          continue;
        flows.setCapacity(toSink[gpu], MaxFlow::unlimited);
        spare = std::min(spare, flows.flow(source, sink, trees + spare) - trees);
        flows.setCapacity(toSink[gpu], 0);
      }
    }
    return spare;
  }

  bool splitExactly() {
    for (bool again = true; again;) {
      again = false;
      for (std::uint32_t to = 0; to < graph_.vertices(); ++to)
        for (std::uint32_t step = 1; step <= graph_.vertices() && out(to) > 0; ++step) {
          const std::uint32_t from = (to + step) % graph_.vertices(); // `to` itself comes last
          if (in(from) == 0)
            continue;
          if (const Amount amount = most(from, to); amount > 0) {
            split(from, to, amount);
            again = true;
          }
        }
    }
    return isDone();
  }

  UnitGraph &graph_;
  std::uint32_t hub_;
};

bool Splitter::splitEvenly() {
  const std::vector<std::vector<std::uint32_t>> all = groups();
  std::size_t widest = 0;
  for (const std::vector<std::uint32_t> &group : all)
    widest = std::max(widest, group.size());
  std::vector<std::pair<std::size_t, std::size_t>> distances; // [distance of groups, distance inside]
  for (std::size_t inside = 0; inside < widest; ++inside)
    for (std::size_t apart = 1; apart < all.size(); ++apart)
      distances.emplace_back(apart, inside);
  for (std::size_t inside = 1; inside < widest; ++inside)
    distances.emplace_back(0, inside);
  if (distances.empty())
    return isDone();
  for (bool again = true; again;) {
    again = false;
    Amount least = MaxFlow::unlimited; // the least capacity that a neighbour has left
    for (const std::vector<std::uint32_t> &group : all)
      for (const std::uint32_t v : group)
        if (const Amount left = std::max(in(v), out(v)); left > 0)
          least = std::min(least, left);
    const Amount each = std::max<Amount>(1, least / static_cast<Amount>(distances.size()));
    for (const auto &[apart, inside] : distances)
      for (std::size_t g = 0; g < all.size(); ++g)
        for (std::size_t i = 0; i < all[g].size(); ++i) {
          const std::vector<std::uint32_t> &other = all[(g + apart) % all.size()];
          const std::uint32_t from = all[g][i], to = other[(i + inside) % other.size()];
          const Amount amount = std::min({each, in(from), out(to)});
          if (amount == 0 || from == to)
            continue;
          split(from, to, amount);
          again = true;
        }
  }
  for (std::uint32_t v = 0; v < graph_.vertices(); ++v) // the remaining units lead back to their own vertex
    split(v, v, std::min(in(v), out(v)));
  return isDone();
}

} // namespace

bool splitSwitchesOff(UnitGraph &graph) {
  // Switches between nodes have the last numbers. They are split off first, because their groups are then nodes.
  const UnitGraph before = graph;
  bool all = true;
  for (std::uint32_t hub = graph.vertices(); hub-- > graph.gpus() && all;)
    all = Splitter(graph, hub).splitEvenly();
  if (all && graph.reachesAll())
    return true;
  graph = before;
  for (std::uint32_t hub = graph.vertices(); hub-- > graph.gpus();)
    if (!Splitter(graph, hub).run())
      return false;
  return true;
}

} // namespace mscclc::passes::synthesize
