#include "passes/synthesize/forest.h"

#include "ir/internal_error.h"
#include "passes/synthesize/pack_trees.h"
#include "passes/synthesize/unit_graph.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace mscclc::passes::synthesize {

namespace {

/// Finds the widest trees for a given number of trees of each source.
class Widths {
public:
  Widths(const time::LinkGraph &graph, const std::vector<bool> &isSource, const Bottleneck &bound)
      : graph_(graph), isSource_(isSource), bound_(bound) {
    for (const time::Link &link : graph.links)
      rates_.insert(link.rate);
  }

  std::size_t numLinks() const { return graph_.links.size(); }
  UnitGraph at(const Fraction &unit, std::int64_t trees) const { return {graph_, unit, isSource_, trees}; }

  /// Returns the widest unit that is at least `share` of the bound. Only the rate of a link divided by 1, 2, 3, … has
  /// to be tried: between two such values, the number of trees that each link carries does not change.
  std::optional<Fraction> widest(std::int64_t trees, double share) const {
    const Fraction most = Fraction::of(bound_.share.num, bound_.share.den * trees);
    std::vector<Fraction> units;
    for (const std::uint64_t rate : rates_) {
      const auto first = static_cast<std::int64_t>(std::floor(static_cast<double>(rate) / most.value()));
      const auto last = static_cast<std::int64_t>(std::floor(static_cast<double>(rate) / (most.value() * share)));
      for (std::int64_t parts = std::max<std::int64_t>(first, 1); parts <= last && parts < first + mostUnits; ++parts)
        if (const Fraction unit = Fraction::of(static_cast<std::int64_t>(rate), parts); !(most < unit))
          units.push_back(unit);
    }
    std::ranges::sort(units, [](const Fraction &a, const Fraction &b) { return b < a; });
    units.erase(std::unique(units.begin(), units.end()), units.end());
    const auto found =
        std::ranges::partition_point(units, [&](const Fraction &unit) { return !at(unit, trees).reachesAll(); });
    return found == units.end() ? std::nullopt : std::optional(*found);
  }

private:
  static constexpr std::int64_t mostUnits = 4096; ///< the most units that are tried for one link rate
  const time::LinkGraph &graph_;
  const std::vector<bool> &isSource_;
  const Bottleneck &bound_;
  std::set<std::uint64_t> rates_;
};

/// Returns the width of trees with which the bound is reached. The share of a source and the rates of all links are
/// multiples of it, and it is the largest such width.
Fraction exactUnit(const time::LinkGraph &graph, const Bottleneck &bound) {
  std::int64_t common = bound.share.num;
  for (const time::Link &link : graph.links)
    common = std::gcd(common, static_cast<std::int64_t>(link.rate) * bound.share.den);
  return Fraction::of(common, bound.share.den);
}

void setWidth(Forest &forest, const Widths &widths, const TreeCount &count) {
  const auto take = [&](std::int64_t trees, const Fraction &unit) {
    forest.trees = trees;
    forest.unit = unit;
  };
  for (std::int64_t trees = count.least; trees <= count.most; ++trees)
    if (const auto unit = widths.widest(trees, 1 - count.tolerance))
      return take(trees, *unit);
  const double least = 1 / static_cast<double>(widths.numLinks()); // a cut may have many narrow links
  for (std::int64_t trees = count.least; trees <= count.most; ++trees)
    if (const auto unit = widths.widest(trees, least))
      if (const double rate = unit->value() * static_cast<double>(trees);
          forest.trees == 0 || rate > forest.unit.value() * static_cast<double>(forest.trees))
        take(trees, *unit);
}

} // namespace

std::optional<std::string> noForest(const time::LinkGraph &graph) {
  std::vector<std::int64_t> more(graph.vertices()); // [vertex]: MB/s in minus MB/s out
  for (const time::Link &link : graph.links) {
    more[link.to] += static_cast<std::int64_t>(link.rate);
    more[link.from] -= static_cast<std::int64_t>(link.rate);
  }
  for (std::uint32_t vertex = 0; vertex < more.size(); ++vertex)
    if (more[vertex] != 0)
      return (vertex < graph.gpus ? "GPU " + std::to_string(vertex)
                                  : "switch '" + graph.switches[vertex - graph.gpus] + "'") +
             " has " + shownRate(std::abs(static_cast<double>(more[vertex])) / 1000) + " GB/s more " +
             (more[vertex] > 0 ? "in than out" : "out than in");
  const Bottleneck bound = findBottleneck(graph, std::vector<bool>(graph.gpus, true));
  if (bound.share.num == 0)
    return "no link leads to " + std::string(bound.receivers.size() == 1 ? "rank " : "ranks ") +
           shownRanks(bound.receivers) + " from the others";
  return std::nullopt;
}

Forest growForest(const time::LinkGraph &graph, const std::vector<bool> &isSource, const TreeCount &count) {
  Forest forest;
  forest.bound = findBottleneck(graph, isSource);
  const Widths widths(graph, isSource, forest.bound);
  const Fraction exact = exactUnit(graph, forest.bound);
  forest.exact = forest.bound.share.num * exact.den / (forest.bound.share.den * exact.num);
  if (count.exact || forest.exact == count.least) {
    forest.trees = forest.exact;
    forest.unit = exact;
  } else {
    setWidth(forest, widths, count);
  }
  if (forest.trees == 0)
    throw ir::InternalError("no number of trees spans the machine");
  UnitGraph units = widths.at(forest.unit, forest.trees);
  if (!splitSwitchesOff(units))
    throw ir::InternalError("a switch cannot be split off");
  forest.packed = packTrees(std::move(units));
  return forest;
}

} // namespace mscclc::passes::synthesize
