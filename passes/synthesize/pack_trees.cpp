#include "passes/synthesize/pack_trees.h"

#include "ir/internal_error.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace mscclc::passes::synthesize {

namespace {

using Amount = std::int64_t;

/// A tree that does not reach all GPUs yet.
struct Growing {
  Tree tree;
  std::vector<std::uint32_t> depth; ///< [gpu]: hops from the root; `outside` if it is not reached
};
constexpr std::uint32_t outside = 0xffffffff;

/// Edmonds' condition: each set S of GPUs is entered by at least as many edges as there are trees that do not touch S
/// yet. A hop keeps it for as many trees as each set can spare that the hop enters. A flow to the end of the hop, from
/// its beginning and from all other trees, measures that.
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
  /// The flows from all trees but the one that grows.
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
    /// Returns how many trees, `most` at most, may take this hop.
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

  /// Returns the hops that may be next, the best first. Low trees come first, then links with much room. Among equal
  /// ones, roots choose in the same way, so that the trees of equivalent GPUs are equal.
  std::vector<Hop> choices(const Growing &one) const {
    std::vector<std::tuple<std::uint32_t, Amount, std::uint32_t, std::uint32_t, Hop>> sorted;
    const std::uint32_t root = one.tree.root;
    for (std::uint32_t from = 0; from < gpus_; ++from)
      for (std::uint32_t to = 0; to < gpus_ && one.depth[from] != outside; ++to)
        if (const Amount room = graph_.capacity(from, to); room > 0 && one.depth[to] == outside)
          sorted.emplace_back(one.depth[from], -room, (from + gpus_ - root) % gpus_, (to + gpus_ - root) % gpus_,
                              Hop{from, to});
    std::ranges::sort(sorted, [](const auto &a, const auto &b) {
      return std::tie(std::get<0>(a), std::get<1>(a), std::get<2>(a), std::get<3>(a)) <
             std::tie(std::get<0>(b), std::get<1>(b), std::get<2>(b), std::get<3>(b));
    });
    std::vector<Hop> hops;
    for (const auto &choice : sorted)
      hops.push_back(std::get<Hop>(choice));
    return hops;
  }

  /// Adds hops until all GPUs are reached. If not all of the tree's weight can take the best hop, the rest waits.
  void grow(Growing &one) {
    Spare spare(graph_, waiting_);
    std::vector<bool> refused(std::size_t{gpus_} * gpus_, false); // room never grows again
    while (one.tree.hops.size() + 1 < gpus_) {
      Hop best;
      Amount most = 0;
      for (const Hop &hop : choices(one)) {
        if (refused[hop.from * gpus_ + hop.to])
          continue;
        const Amount amount = spare.of(hop, std::min(one.tree.weight, graph_.capacity(hop.from, hop.to)));
        refused[hop.from * gpus_ + hop.to] = amount == 0;
        if (amount > most) {
          most = amount;
          best = hop;
        }
        if (most == one.tree.weight)
          break;
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
  std::vector<Growing> waiting_; ///< the next one is the last
};

} // namespace

std::vector<Tree> packTrees(UnitGraph graph) {
  return Packer(std::move(graph)).run();
}

} // namespace mscclc::passes::synthesize
