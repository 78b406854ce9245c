#include "passes/synthesize/pack_trees.h"

#include "ir/internal_error.h"

#include <algorithm>
#include <optional>
#include <span>
#include <tuple>

namespace mscclc::passes::synthesize {

namespace {

using Amount = std::int64_t;

/// A tree that does not reach all GPUs yet.
struct Growing {
  Tree tree;
  std::vector<std::uint32_t> depth; ///< [gpu]: hops from the root; `outside` if the tree does not reach it
};
constexpr std::uint32_t outside = 0xffffffff;

/// Edmonds' condition: each set S of GPUs is entered by at least as many edges as there are trees that do not touch S
/// yet. A hop enters some of these sets, and each of them must be able to spare its edges. So the number of trees that
/// may take the hop is limited. A flow to the end of the hop, from its beginning and from all other trees, measures
/// this limit.
class Packer {
public:
  explicit Packer(UnitGraph graph) : graph_(std::move(graph)), gpus_(graph_.gpus()) {
    for (std::uint32_t gpu = 0; gpu < gpus_; ++gpu)
      if (graph_.roots[gpu] > 0) {
        Growing one{{gpu, graph_.roots[gpu], {}}, std::vector<std::uint32_t>(gpus_, outside)};
        one.depth[gpu] = 0;
        waiting_.push_back(std::move(one));
      }
    std::ranges::reverse(waiting_);
  }

  std::vector<Tree> run() {
    std::vector<Tree> done;
    while (!waiting_.empty()) {
      Growing one = std::move(waiting_.back());
      waiting_.pop_back();
      grow(one);
      done.push_back(std::move(one.tree));
    }
    std::ranges::stable_sort(done, {}, &Tree::root);
    return done;
  }

private:
  /// A network with all trees except the one that grows. Its flows show how many trees may take a hop.
  class Spare {
  public:
    Spare(const UnitGraph &graph, const std::vector<Growing> &others)
        : source_(graph.gpus()), flows_(source_ + 1 + static_cast<std::uint32_t>(others.size())),
          edges_(std::size_t{source_} * source_, outside) {
      for (std::uint32_t from = 0; from < source_; ++from)
        for (std::uint32_t to = 0; to < source_; ++to)
          if (graph.capacity(from, to) > 0)
            edges_[from * source_ + to] = flows_.add(from, to, graph.capacity(from, to));
      for (std::uint32_t gpu = 0; gpu < source_; ++gpu)
        begins_.push_back(flows_.add(source_, gpu, 0));
      for (std::uint32_t i = 0; i < others.size(); ++i) {
        waiting_ += others[i].tree.weight;
        if (others[i].tree.hops.empty()) {
          flows_.add(source_, others[i].tree.root, others[i].tree.weight);
          continue;
        }
        flows_.add(source_, source_ + 1 + i, others[i].tree.weight);
        for (std::uint32_t gpu = 0; gpu < source_; ++gpu)
          if (others[i].depth[gpu] != outside)
            flows_.add(source_ + 1 + i, gpu, MaxFlow::unlimited);
      }
    }
    /// Returns how many trees may take this hop, but at most `most`.
    Amount of(const Hop &hop, Amount most) {
      flows_.setCapacity(begins_[hop.from], MaxFlow::unlimited);
      const Amount spare = flows_.flow(source_, hop.to, waiting_ + most) - waiting_;
      flows_.setCapacity(begins_[hop.from], 0);
      return spare;
    }
    void setCapacity(const Hop &hop, Amount capacity) {
      flows_.setCapacity(edges_[hop.from * source_ + hop.to], capacity);
    }

  private:
    std::uint32_t source_;
    MaxFlow flows_;
    Amount waiting_ = 0; ///< weight of the other trees
    std::vector<std::uint32_t> begins_, edges_;
  };

  /// Returns the hops from the GPUs `fromAny` that may be next, with the most room first. Hops with equal room have the
  /// same order as seen from each root, so that the trees of equivalent GPUs are equal.
  std::vector<Hop> choices(const Growing &one, std::span<const std::uint32_t> fromAny) const {
    std::vector<std::tuple<Amount, std::uint32_t, std::uint32_t, Hop>> sorted;
    const std::uint32_t root = one.tree.root;
    for (const std::uint32_t from : fromAny)
      for (std::uint32_t to = 0; to < gpus_; ++to)
        if (const Amount room = graph_.capacity(from, to); room > 0 && one.depth[to] == outside)
          sorted.emplace_back(-room, (from + gpus_ - root) % gpus_, (to + gpus_ - root) % gpus_, Hop{from, to});
    std::ranges::sort(sorted, [](const auto &a, const auto &b) {
      return std::tie(std::get<0>(a), std::get<1>(a), std::get<2>(a)) <
             std::tie(std::get<0>(b), std::get<1>(b), std::get<2>(b));
    });
    std::vector<Hop> hops;
    for (const auto &choice : sorted)
      hops.push_back(std::get<Hop>(choice));
    return hops;
  }

  /// Returns the GPUs that the tree has reached, by depth.
  std::vector<std::vector<std::uint32_t>> levels(const Growing &one) const {
    std::vector<std::vector<std::uint32_t>> levels;
    for (std::uint32_t gpu = 0; gpu < gpus_; ++gpu)
      if (const std::uint32_t depth = one.depth[gpu]; depth != outside) {
        levels.resize(std::max<std::size_t>(levels.size(), depth + 1));
        levels[depth].push_back(gpu);
      }
    return levels;
  }

  /// Adds hops until all GPUs are reached. If only a part of the tree's weight can take the best hop, the rest becomes
  /// a tree that waits.
  void grow(Growing &one) {
    Spare spare(graph_, waiting_);
    std::vector<bool> refused(std::size_t{gpus_} * gpus_, false); // a refused hop never gets room again
    std::vector<std::vector<std::uint32_t>> from = levels(one);
    while (one.tree.hops.size() + 1 < gpus_) {
      Hop best;
      Amount most = 0;
      for (std::size_t level = 0; level < from.size() && most < one.tree.weight; ++level) {
        bool anyMore = false; // if no GPU of a level has hops now, it has none later
        for (const Hop &hop : choices(one, from[level])) {
          if (refused[hop.from * gpus_ + hop.to])
            continue;
          const Amount amount = spare.of(hop, std::min(one.tree.weight, graph_.capacity(hop.from, hop.to)));
          refused[hop.from * gpus_ + hop.to] = amount == 0;
          anyMore |= amount > 0;
          if (amount > most) {
            most = amount;
            best = hop;
          }
          if (most == one.tree.weight)
            break;
        }
        if (!anyMore)
          from[level].clear();
      }
      if (most == 0)
        throw ir::InternalError("spanning trees cannot be completed");
      const bool isCut = most < one.tree.weight;
      if (isCut) {
        waiting_.push_back(one);
        waiting_.back().tree.weight -= most;
        one.tree.weight = most;
      }
      one.depth[best.to] = one.depth[best.from] + 1;
      from.resize(std::max<std::size_t>(from.size(), one.depth[best.to] + 1));
      from[one.depth[best.to]].push_back(best.to);
      one.tree.hops.push_back(best);
      graph_.capacity(best.from, best.to) -= most;
      if (isCut)
        spare = Spare(graph_, waiting_);
      else
        spare.setCapacity(best, graph_.capacity(best.from, best.to));
    }
  }

  UnitGraph graph_;
  std::uint32_t gpus_;
  std::vector<Growing> waiting_; ///< the last tree is the next to grow
};

/// Grows a tree of GPU 0 in breadth. `room`[distance]: the number of trees that each link of this distance can still
/// carry. For each hop of a distance, the images of the tree for all roots use each link of this distance once. Returns
/// nothing if the tree does not reach all GPUs.
std::optional<Tree> growForAll(const LinkSymmetry &symmetry, std::vector<Amount> &room, Amount weight) {
  const std::uint32_t gpus = symmetry.numRanks();
  Tree tree{.root = 0, .weight = weight, .hops = {}};
  std::vector<bool> isReached(gpus, false);
  isReached[0] = true;
  std::vector<std::uint32_t> reached{0}, distances;
  for (std::uint32_t distance = 1; distance < gpus; ++distance)
    if (room[distance] >= weight)
      distances.push_back(distance);
  for (std::size_t i = 0; i < reached.size() && reached.size() < gpus; ++i) {
    std::erase_if(distances, [&](std::uint32_t distance) { return room[distance] < weight; });
    std::ranges::stable_sort(distances, {}, [&](std::uint32_t distance) { return -room[distance]; });
    for (const std::uint32_t distance : distances)
      if (const std::uint32_t to = symmetry.imageOfRank(distance, reached[i]); !isReached[to]) {
        isReached[to] = true;
        tree.hops.push_back({reached[i], to});
        reached.push_back(to);
        room[distance] -= weight;
      }
  }
  return reached.size() == gpus ? std::optional(std::move(tree)) : std::nullopt;
}

/// If all GPUs are equivalent, packs trees of GPU 0 and their images. Needs no flows. Returns nothing if this is not
/// possible, even if Packer can pack trees.
std::optional<std::vector<Tree>> packEqualTrees(const UnitGraph &graph) {
  const std::uint32_t gpus = graph.gpus();
  const LinkSymmetry symmetry = graph.symmetry();
  if (!symmetry.holds() || std::ranges::any_of(graph.roots, [&](Amount trees) { return trees != graph.roots[0]; }))
    return std::nullopt;
  std::vector<Amount> room(gpus);
  for (std::uint32_t to = 1; to < gpus; ++to)
    room[to] = graph.capacity(0, to);
  std::vector<Tree> first;
  for (Amount left = graph.roots[0], weight = left; left > 0; weight = std::min(weight, left)) {
    std::vector<Amount> after = room;
    if (std::optional<Tree> tree = growForAll(symmetry, after, weight)) {
      left -= weight;
      room = std::move(after);
      first.push_back(std::move(*tree));
    } else if ((weight /= 2) == 0) {
      return std::nullopt;
    }
  }
  std::vector<Tree> all;
  for (std::uint32_t root = 0; root < gpus; ++root)
    for (Tree tree : first) {
      tree.root = root;
      for (Hop &hop : tree.hops)
        hop = {symmetry.imageOfRank(hop.from, root), symmetry.imageOfRank(hop.to, root)};
      all.push_back(std::move(tree));
    }
  return all;
}

} // namespace

std::vector<Tree> packTrees(UnitGraph graph) {
  if (std::optional<std::vector<Tree>> equal = packEqualTrees(graph))
    return std::move(*equal);
  return Packer(std::move(graph)).run();
}

} // namespace mscclc::passes::synthesize
