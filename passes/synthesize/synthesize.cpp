#include "passes/synthesize/synthesize.h"

#include "ir/collectives.h"
#include "ir/diagnostics.h"
#include "passes/synthesize/algorithms.h"
#include "passes/synthesize/forest.h"
#include "passes/synthesize/link_symmetry.h"
#include "passes/time/links.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <tuple>
#include <utility>

namespace mscclc::passes::synthesize {

using ir::CollectiveKind;

namespace {

/// If GPUs are equivalent, an all-reduce along the trees of one root is tried for at most this number of GPUs.
constexpr std::uint32_t mostRooted = 64;

time::LinkGraph reversed(time::LinkGraph graph) {
  for (time::Link &link : graph.links)
    std::swap(link.from, link.to);
  return graph;
}

/// Returns a sentence: what the links allow, and which part of it the trees reach.
std::string linksSentence(const Forest &forest, bool sends) {
  const std::string trees = ir::plural(static_cast<std::uint64_t>(forest.trees), "tree") + " of each source";
  if (forest.isOptimal())
    return "optimal: " + forest.bound.sentence(sends) + ", by " + trees;
  char part[32];
  std::snprintf(part, sizeof(part), "%.1f %%", 100 * forest.bandwidth() / forest.bound.bandwidth());
  return "at most: " + forest.bound.sentence(sends) + "; " + trees + " reach " + shownRate(forest.bandwidth()) +
         " GB/s, " + part + " of it" +
         (forest.exact != 0 ? ", and " + std::to_string(forest.exact) + " all of it" : "");
}

/// Returns such a sentence for an all-reduce. Even if GPUs or a switch sum on the way, the whole message crosses each
/// cut in both directions.
std::string allReduceSentence(const time::LinkGraph &graph, const Forest &up, const Forest &down) {
  std::vector<bool> first(graph.gpus, false);
  first[0] = true;
  const Bottleneck cut = findBottleneck(graph, first);
  const double reached = 1 / (1 / up.bandwidth() + 1 / down.bandwidth());
  char part[32];
  std::snprintf(part, sizeof(part), "%.1f %%", 100 * reached / cut.bandwidth());
  return "at most: " + cut.sentence() + "; trees reach " + shownRate(reached) + " GB/s, " + part + " of it";
}

/// The trees of a task: trees along which data goes from the roots, and trees along which sums go to the roots.
struct Forests {
  Forest down, up;
};

/// Returns the trees that the task uses. `isRooted`: the trees have only the task's root as root, and not each GPU. In
/// an all-reduce, the trees in both directions divide data in the same way.
Forests forestsOf(const time::LinkGraph &graph, const Task &task, bool isRooted, const TreeCount &count = {}) {
  std::vector<bool> isSource(graph.gpus, !isRooted);
  if (isRooted)
    isSource[task.root] = true;
  Forests forests;
  if (task.sums())
    forests.up = growForest(reversed(graph), isSource, count);
  if (task.spreads())
    forests.down = growForest(graph, isSource, task.sums() ? TreeCount{forests.up.trees, forests.up.trees} : count);
  return forests;
}

/// Tries algorithms one after the other, and takes the best.
class Comparison {
public:
  explicit Comparison(const schedule::ChooseOptions &options)
      : options_(options),
        paths_(options.machine.hasLinks() ? time::LinkPaths(time::fabricOf(options.machine)) : time::LinkPaths()) {
    options_.timesOnly = true;
  }

  void tryOut(const std::string &name, ir::Program program) {
    const double least = hasWays(program) ? leastTime(program) : INFINITY;
    if (std::isinf(least)) {
      attempts_.push_back({name, 0});
      return;
    }
    if (least > schedule::mostTime(figures_, close)) {
      attempts_.push_back({name, least, true});
      return;
    }
    schedule::ScheduledProgram scheduled{program, {}, options_.messageBytes};
    const schedule::Choice &choice = scheduled.choice = schedule::choose(scheduled.program, options_);
    const schedule::Candidate *taken = choice.taken();
    attempts_.push_back({name, choice.nanoseconds, false, taken ? taken->restsOn.value_or(time::ParameterSet()) : 0});
    if (!taken)
      return;
    figures_.push_back(*taken);
    programs_.emplace_back(name, std::move(program));
    if (schedule::bestOf(figures_, close) == &figures_.back())
      best_.emplace(figures_.size() - 1, std::move(scheduled));
  }

  std::optional<Synthesis> take(std::string links) {
    const schedule::Candidate *best = schedule::bestOf(figures_, close);
    if (!best)
      return std::nullopt;
    const std::size_t at = best - figures_.data();
    auto &[name, program] = programs_[at];
    std::ranges::stable_sort(attempts_, {}, [&](const Attempt &one) {
      return std::tuple(one.name != name, one.nanoseconds == 0, one.nanoseconds);
    });
    Synthesis made{std::move(program), std::move(attempts_), best->nanoseconds, std::move(links)};
    if (best_->first == at) // the best algorithm may be another one in the end; its schedule is not kept
      made.scheduled = std::move(best_->second);
    return made;
  }

private:
  /// Calls visit(source, destination) for each pair of a source and a destination of a statement, if they are on
  /// different ranks.
  template <typename Visit> static void forEachHop(const ir::Program &program, const Visit &visit) {
    for (const ir::Move &statement : program.movement.statements)
      for (const ir::RankChunk &from : program.movement.srcs(statement))
        for (const ir::RankChunk &to : program.movement.dsts(statement))
          if (from.rank != to.rank)
            visit(from, to);
  }

  /// Returns the least time, in nanoseconds, in which the busiest GPU can send or receive its data. If a switch sums
  /// and multicasts, it may save data inside a node. Then only data between nodes counts.
  double leastTime(const ir::Program &program) const {
    const time::Machine &machine = options_.machine;
    const std::uint32_t gpus = machine.gpusPerNode;
    const bool countsNodes = machine.parameters.multimem == 0;
    const double chunk = static_cast<double>(options_.messageBytes) / ir::chunksOfMessage(program, program.ranks[0]);
    std::vector<double> busy(4 * program.ranks.size()); // [rank]: times to send and receive, in nodes and between
    forEachHop(program, [&](const ir::RankChunk &from, const ir::RankChunk &to) {
      const bool isFar = from.rank / gpus != to.rank / gpus;
      if (!isFar && !countsNodes)
        return;
      const auto rate = [&](std::uint32_t rank) {
        return isFar ? time::networkRate(machine, rank % gpus) : machine.parameters.link;
      };
      busy[4 * from.rank + 2 * isFar] += from.size * chunk / rate(from.rank);
      busy[4 * to.rank + 2 * isFar + 1] += from.size * chunk / rate(to.rank);
    });
    return *std::ranges::max_element(busy);
  }

  /// True if a link leads to each destination from each source in its node.
  bool hasWays(const ir::Program &program) const {
    if (!options_.machine.hasLinks())
      return true;
    const std::uint32_t gpus = options_.machine.gpusPerNode;
    bool all = true;
    forEachHop(program, [&](const ir::RankChunk &from, const ir::RankChunk &to) {
      all &= from.rank / gpus != to.rank / gpus || !paths_.between(from.rank % gpus, to.rank % gpus).empty();
    });
    return all;
  }

  static constexpr double close = 1; ///< no algorithm is simpler than another, so the fastest is the best

  schedule::ChooseOptions options_;
  const time::LinkPaths paths_;
  std::vector<Attempt> attempts_;
  std::vector<schedule::Candidate> figures_;                  ///< figures of the algorithms with a schedule
  std::vector<std::pair<std::string, ir::Program>> programs_; ///< [figure]: the algorithm's name and its program
  /// The number of the last figure that was the best when it was added, and its scheduled program.
  std::optional<std::pair<std::size_t, schedule::ScheduledProgram>> best_;
};

} // namespace

std::optional<Synthesis> synthesize(CollectiveKind kind, std::uint32_t root, const schedule::ChooseOptions &options,
                                    std::string &why) {
  const time::Machine &machine = options.machine;
  const Task task{kind, static_cast<std::uint32_t>(machine.gpus()), machine.gpusPerNode, root};
  const time::LinkGraph graph = time::linksOf(machine);
  if (const std::optional<std::string> reason = noForest(graph)) {
    why = *reason;
    return std::nullopt;
  }
  Comparison comparison(options);
  std::string links;
  if (kind == CollectiveKind::AllToAll) {
    links = "at most: " + allToAllBound(graph, task.ranksPerNode);
  } else {
    const bool isAllReduce = kind == CollectiveKind::AllReduce;
    const auto [down, up] = forestsOf(graph, task, ir::info(kind).hasRoot);
    links = isAllReduce ? allReduceSentence(graph, up, down) : linksSentence(task.sums() ? up : down, task.sums());
    comparison.tryOut("trees", treeProgram(task, "trees", down, up));
    if (std::max(down.trees, up.trees) > 1) { // a single tree is slower if links are the limit, but has less depth
      const auto [oneDown, oneUp] = forestsOf(graph, task, ir::info(kind).hasRoot, {.most = 1});
      comparison.tryOut("tree", treeProgram(task, "tree", oneDown, oneUp));
    }
    // If GPUs are equivalent, the trees of all GPUs use the links equally well, and one rank represents all.
    if (isAllReduce && (task.ranks <= mostRooted || !LinkSymmetry(graph).holds())) {
      const auto [rootedDown, rootedUp] = forestsOf(graph, task, /*isRooted=*/true);
      comparison.tryOut("rooted", treeProgram(task, "rooted", rootedDown, rootedUp));
    }
  }
  for (const Algorithm &algorithm : symmetricAlgorithms(task, machine.parameters.multimem != 0))
    comparison.tryOut(algorithm.name, algorithm.write());
  std::optional<Synthesis> best = comparison.take(std::move(links));
  if (!best)
    why = "no schedule of any algorithm fits " + std::string(options.target.name());
  return best;
}

const std::vector<CollectiveKind> &synthesizedKinds() {
  static const std::vector<CollectiveKind> kinds = {CollectiveKind::AllGather,     CollectiveKind::AllReduce,
                                                    CollectiveKind::ReduceScatter, CollectiveKind::AllToAll,
                                                    CollectiveKind::Broadcast,     CollectiveKind::Reduce};
  return kinds;
}

} // namespace mscclc::passes::synthesize
