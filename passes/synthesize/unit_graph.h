// A machine's links in whole trees: how many trees of one bandwidth each link can carry.
#pragma once

#include "passes/synthesize/bottleneck.h"
#include "passes/synthesize/link_symmetry.h"
#include "passes/synthesize/max_flow.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace mscclc::passes::synthesize {

/// A directed graph of GPUs and switches. Capacities are numbers of trees. GPU g is the root of `roots[g]` trees, each
/// of which has to reach all GPUs.
class UnitGraph {
public:
  /// `unit`: the bandwidth of a tree, in MB/s. Each source is the root of `trees` trees. If a switch can then carry
  /// more trees in than out, or the reverse, its links lose the difference.
  UnitGraph(const time::LinkGraph &graph, const Fraction &unit, const std::vector<bool> &isSource, std::int64_t trees);

  std::uint32_t gpus() const { return static_cast<std::uint32_t>(roots.size()); }
  std::uint32_t vertices() const { return vertices_; }
  std::int64_t &capacity(std::uint32_t from, std::uint32_t to) { return capacities_[from * vertices_ + to]; }
  std::int64_t capacity(std::uint32_t from, std::uint32_t to) const { return capacities_[from * vertices_ + to]; }
  std::int64_t totalTrees() const;
  /// Returns a network of these capacities, with `more` additional vertices. The first of these has an edge to each GPU
  /// that is a root. The capacity of this edge is the number of trees that begin at the GPU.
  MaxFlow network(std::uint32_t more) const;
  LinkSymmetry symmetry() const;
  /// True if all trees reach each GPU: no cut has fewer links than trees that must cross it.
  bool reachesAll() const;

  std::vector<std::int64_t> roots; ///< [gpu]: number of trees

private:
  /// Returns the capacities as rates of links.
  time::LinkGraph links() const;
  void balanceSwitches();
  std::uint32_t vertices_, perNode_;
  std::vector<std::int64_t> capacities_;
};

/// Replaces each path through a switch by a capacity between its ends, until no switch is connected. Trees must be able
/// to reach each GPU before, and they still can afterwards. A symmetric division is taken if it keeps this property:
/// paths between nodes first join GPUs with the same number in their nodes, and paths inside a node go equally to all
/// other GPUs. This is tried for all switches together, then for each one. Otherwise pairs of links are split off one
/// after the other, each as far as flows allow. Returns false if some capacity is left at a switch.
bool splitSwitchesOff(UnitGraph &graph);

} // namespace mscclc::passes::synthesize
