// Bottlenecks against published values and against all cuts, and the trees that reach them.
#include "catch.h"
#include "passes/synthesize/forest.h"
#include "passes/synthesize/link_symmetry.h"
#include "passes/synthesize/unit_graph.h"
#include "topologies.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <queue>
#include <set>

using namespace mscclc::passes::synthesize;
using mscclc::passes::time::Link;
using mscclc::passes::time::LinkGraph;

namespace {

std::vector<bool> allOf(const LinkGraph &graph) {
  return std::vector<bool>(graph.gpus, true);
}
std::vector<bool> onlyOf(const LinkGraph &graph, std::uint32_t gpu) {
  std::vector<bool> one(graph.gpus, false);
  one[gpu] = true;
  return one;
}

/// The least ratio over all cuts, one by one.
Fraction ratioOfAllCuts(const LinkGraph &graph, const std::vector<bool> &isSource) {
  std::optional<Fraction> least;
  for (std::uint32_t before = 1; before < (1u << graph.vertices()); ++before) {
    std::int64_t sources = 0, rate = 0;
    for (std::uint32_t gpu = 0; gpu < graph.gpus; ++gpu)
      sources += isSource[gpu] && (before >> gpu & 1);
    const std::uint32_t gpus = (1u << graph.gpus) - 1;
    if (sources == 0 || (before & gpus) == gpus)
      continue;
    for (const Link &link : graph.links)
      if ((before >> link.from & 1) && !(before >> link.to & 1))
        rate += static_cast<std::int64_t>(link.rate);
    if (const Fraction ratio = Fraction::of(rate, sources); !least || ratio < *least)
      least = ratio;
  }
  return *least;
}

/// A maximum flow by augmenting paths, on a matrix. It shares no code with MaxFlow.
std::int64_t flowBetween(const LinkGraph &graph, const std::set<std::uint32_t> &from,
                         const std::set<std::uint32_t> &to) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> left;
  for (const Link &link : graph.links)
    left[{link.from, link.to}] += static_cast<std::int64_t>(link.rate);
  for (std::int64_t total = 0;;) {
    std::map<std::uint32_t, std::uint32_t> cameFrom;
    std::queue<std::uint32_t> next;
    for (const std::uint32_t vertex : from) {
      cameFrom[vertex] = vertex;
      next.push(vertex);
    }
    std::optional<std::uint32_t> end;
    for (; !next.empty() && !end; next.pop())
      for (std::uint32_t v = 0; v < graph.vertices() && !end; ++v)
        if (!cameFrom.contains(v) && left[{next.front(), v}] > 0) {
          cameFrom[v] = next.front();
          next.push(v);
          if (to.contains(v))
            end = v;
        }
    if (!end)
      return total;
    std::int64_t most = INT64_MAX;
    for (std::uint32_t v = *end; cameFrom[v] != v; v = cameFrom[v])
      most = std::min(most, left[{cameFrom[v], v}]);
    for (std::uint32_t v = *end; cameFrom[v] != v; v = cameFrom[v]) {
      left[{cameFrom[v], v}] -= most;
      left[{v, cameFrom[v]}] += most;
    }
    total += most;
  }
}

/// Checks the certificate: no more than its links say passes from the other GPUs to the receivers.
void checkCertificate(const LinkGraph &graph, const std::vector<bool> &isSource, const Bottleneck &bound) {
  const std::set<std::uint32_t> receivers(bound.receivers.begin(), bound.receivers.end());
  std::set<std::uint32_t> others;
  std::uint32_t across = 0;
  for (std::uint32_t gpu = 0; gpu < graph.gpus; ++gpu)
    if (!receivers.contains(gpu)) {
      others.insert(gpu);
      across += isSource[gpu];
    }
  std::int64_t rate = 0;
  for (const CutLinks &links : bound.links)
    rate += static_cast<std::int64_t>(links.rate) * links.count;
  REQUIRE(!receivers.empty());
  REQUIRE(across == bound.across);
  CHECK(flowBetween(graph, others, receivers) == rate);
  CHECK(Fraction::of(rate, across) == bound.share);
}

/// Checks that each source has its number of trees, and that each reaches all GPUs. If there is no switch, also checks
/// that no link carries more trees than it can.
void checkTrees(const LinkGraph &graph, const std::vector<bool> &isSource, const Forest &forest) {
  std::vector<std::int64_t> trees(graph.gpus);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> used;
  std::vector<std::int64_t> received(graph.gpus);
  for (const Tree &tree : forest.packed) {
    trees[tree.root] += tree.weight;
    std::set<std::uint32_t> reached{tree.root};
    for (const Hop &hop : tree.hops) {
      REQUIRE(reached.contains(hop.from));
      REQUIRE(reached.insert(hop.to).second);
      used[{hop.from, hop.to}] += tree.weight;
      received[hop.to] += tree.weight;
    }
    REQUIRE(reached.size() == graph.gpus);
  }
  for (std::uint32_t gpu = 0; gpu < graph.gpus; ++gpu)
    CHECK(trees[gpu] == (isSource[gpu] ? forest.trees : 0));
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> rates;
  std::vector<double> in(graph.gpus);
  for (const Link &link : graph.links) {
    rates[{link.from, link.to}] += static_cast<double>(link.rate);
    if (link.to < graph.gpus)
      in[link.to] += static_cast<double>(link.rate);
  }
  for (std::uint32_t gpu = 0; gpu < graph.gpus; ++gpu)
    CHECK(static_cast<double>(received[gpu]) * forest.unit.value() <= in[gpu] * (1 + 1e-12));
  if (graph.switches.empty())
    for (const auto &[ends, weight] : used)
      CHECK(static_cast<double>(weight) * forest.unit.value() <= rates[ends] * (1 + 1e-12));
}

struct Published {
  const char *file;
  std::uint32_t nodes;
  double bandwidth; ///< GB/s
  std::int64_t trees;
};

TEST_CASE("bottlenecks and numbers of trees are those that are published", "[slow]") {
  for (const Published &row :
       {Published{"dgx-a100", 1, 342.86, 1}, Published{"dgx-a100", 2, 346.67, 13}, Published{"dgx-a100", 4, 266.67, 1},
        Published{"dgx1-v100", 1, 171.43, 6}, Published{"dgx-h100", 1, 514.29, 1}, Published{"dgx-h100", 2, 533.33, 2},
        Published{"dgx-h100", 4, 516.13, 10}, Published{"dgx-h100", 8, 457.14, 1}, Published{"mi250", 1, 342.86, 3},
        Published{"mi250", 2, 354.13, 83}}) {
    INFO(row.file << " " << row.nodes);
    const LinkGraph graph = mscclc::passes::time::linksOf(tests::topology(row.file, row.nodes));
    CHECK_FALSE(noForest(graph));
    const Forest forest = growForest(graph, allOf(graph));
    CHECK(std::abs(forest.bound.bandwidth() - row.bandwidth) < 0.005);
    CHECK(forest.exact == row.trees);
    CHECK(forest.trees <= 8);
    CHECK((forest.bandwidth() > 0.98 * forest.bound.bandwidth() || forest.trees == 8));
    checkTrees(graph, allOf(graph), forest);
    checkCertificate(graph, allOf(graph), forest.bound);
  }
}

TEST_CASE("a certificate names the receivers, their part of the data and the links") {
  const auto boundOf = [](const char *file, std::uint32_t nodes) {
    const LinkGraph graph = mscclc::passes::time::linksOf(tests::topology(file, nodes));
    return findBottleneck(graph, allOf(graph)).sentence();
  };
  CHECK(boundOf("dgx-a100", 4) == "ranks 0-7 receive 3/4 of the data through 8 x 25 GB/s: 266.67 GB/s");
  CHECK(boundOf("dgx-h100", 2) == "rank 0 receives 15/16 of the data through 1 x 450 + 1 x 50 GB/s: 533.33 GB/s");
  const LinkGraph graph = mscclc::passes::time::linksOf(tests::topology("dgx-a100", 2));
  CHECK(allToAllBound(graph, 8) == "ranks 0-7 receive 4 messages through 200 GB/s: 50 GB/s");
  const LinkGraph one = mscclc::passes::time::linksOf(tests::topology("dgx-h100"));
  CHECK(allToAllBound(one, 8) == "rank 0 receives 7/8 of a message through 450 GB/s: 514.29 GB/s");
  CHECK(findBottleneck(one, allOf(one)).sentence(/*sends=*/true) ==
        "rank 0 sends 7/8 of the data through 1 x 450 GB/s: 514.29 GB/s");
  CHECK(findBottleneck(graph, onlyOf(graph, 3)).sentence() ==
        "ranks 8-15 receive all of the data through 8 x 25 GB/s: 200 GB/s");
}

TEST_CASE("no cut of a random machine allows less, and trees are within what links carry") {
  std::mt19937 random(20261126);
  for (int round = 0; round < 120; ++round) {
    const LinkGraph graph = tests::randomLinks(random, 7);
    INFO("round " << round);
    REQUIRE_FALSE(noForest(graph));
    for (const std::vector<bool> &isSource : {allOf(graph), onlyOf(graph, graph.gpus - 1)}) {
      const Bottleneck bound = findBottleneck(graph, isSource);
      CHECK(bound.share == ratioOfAllCuts(graph, isSource));
      checkCertificate(graph, isSource, bound);
      const Forest few = growForest(graph, isSource);
      checkTrees(graph, isSource, few);
      CHECK(few.trees <= 8);
      CHECK(few.bandwidth() <= bound.bandwidth() * (1 + 1e-12));
      const Forest all = growForest(graph, isSource, {.exact = true});
      checkTrees(graph, isSource, all);
      CHECK(all.isOptimal());
      CHECK(all.trees == few.exact);
    }
  }
}

TEST_CASE("switches are split off so that all trees still reach each GPU") {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    const LinkGraph graph = tests::randomLinks(random, 6);
    const Forest forest = growForest(graph, allOf(graph));
    UnitGraph units(graph, forest.unit, allOf(graph), forest.trees);
    REQUIRE(splitSwitchesOff(units));
    LinkGraph direct;
    direct.gpus = graph.gpus;
    for (std::uint32_t a = 0; a < units.vertices(); ++a)
      for (std::uint32_t b = 0; b < units.vertices(); ++b)
        if (const std::int64_t capacity = units.capacity(a, b); capacity > 0) {
          REQUIRE(std::max(a, b) < graph.gpus);
          direct.links.push_back({a, b, static_cast<std::uint64_t>(capacity)});
        }
    CHECK_FALSE(ratioOfAllCuts(direct, allOf(graph)) < Fraction{forest.trees, 1});
  }
}

TEST_CASE("equivalent GPUs have equal trees, also of a large machine", "[slow]") {
  using mscclc::passes::time::linksOf;
  LinkGraph graph = linksOf(mscclc::passes::time::findMachine("h100x8*32"));
  const LinkSymmetry symmetry(graph);
  REQUIRE(symmetry.holds());
  const Forest forest = growForest(graph, allOf(graph));
  CHECK(forest.isOptimal());
  checkTrees(graph, allOf(graph), forest);
  REQUIRE(forest.packed.size() == 256);
  for (const Tree &tree : forest.packed)
    for (std::size_t i = 0; i < tree.hops.size(); ++i)
      REQUIRE(tree.hops[i] == Hop{symmetry.imageOfRank(forest.packed[0].hops[i].from, tree.root),
                                  symmetry.imageOfRank(forest.packed[0].hops[i].to, tree.root)});
  // One link of another rate, a switch of another switch, and GPUs that are not numbered node after node.
  LinkGraph other = linksOf(mscclc::passes::time::findMachine("h100x8*2"));
  CHECK(LinkSymmetry(other).holds());
  other.links[5].rate += 1;
  CHECK_FALSE(LinkSymmetry(other).holds());
  other.links[5].rate -= 1;
  other.links.push_back({16, 17, 1});
  CHECK_FALSE(LinkSymmetry(other).holds());
  other.links.pop_back();
  other.perNode = 4;
  CHECK_FALSE(LinkSymmetry(other).holds());
}

TEST_CASE("machines without trees are refused with the reason") {
  LinkGraph graph{.gpus = 3, .switches = {"rail"}, .links = {}};
  CHECK(noForest(graph).value_or("") == "no link leads to rank 0 from the others");
  graph.links = {{0, 1, 1000}, {1, 0, 1000}, {1, 2, 1000}, {2, 1, 2500}};
  CHECK(noForest(graph).value_or("") == "GPU 1 has 1.5 GB/s more in than out");
  graph.links = {{0, 3, 1000}, {3, 1, 500}, {1, 0, 500}, {1, 2, 100}, {2, 1, 100}};
  CHECK(noForest(graph).value_or("") == "GPU 0 has 0.5 GB/s more out than in");
  graph.links = {{0, 1, 1000}, {1, 0, 1000}, {2, 3, 1000}, {3, 2, 1000}};
  CHECK(noForest(graph).value_or("") == "no link leads to ranks 0-1 from the others");
}

} // namespace
