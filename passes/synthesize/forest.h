// Spanning trees that carry the data of all sources to all GPUs, as fast as the links allow.
//
// The method is ForestColl's (Zhao et al., arXiv 2402.06787). The bottleneck gives the bandwidth that is possible. In
// units of the bandwidth of a tree, all links are integers. Switches are split off. Then trees are packed into the
// remaining graph edge by edge, and each tree is as wide as flows allow (after Bérczi and Frank).
#pragma once

#include "passes/synthesize/bottleneck.h"
#include "passes/time/links.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mscclc::passes::synthesize {

/// A GPU passes data on to another one.
struct Hop {
  std::uint32_t from = 0, to = 0;
  friend bool operator==(const Hop &, const Hop &) = default;
};

/// A tree from its root to all GPUs. It carries `weight` of the parts into which the root's data is divided.
struct Tree {
  std::uint32_t root = 0;
  std::int64_t weight = 1;
  std::vector<Hop> hops; ///< each hop begins where an earlier hop ended, or at the root
};

struct Forest {
  Bottleneck bound;       ///< the limit of the links: no algorithm is faster
  std::int64_t exact = 0; ///< number of trees of each source with which the bound is reached; 0: too many to count
  std::int64_t trees = 0; ///< sum of the weights of each source's trees; also the number of parts of its data
  Fraction unit;          ///< MB/s of each tree
  std::vector<Tree> packed;

  /// Returns the algorithmic bandwidth of the trees, in GB/s.
  double bandwidth() const { return unit.value() * static_cast<double>(trees) * bound.sources / 1000; }
  /// True if no algorithm is faster.
  bool isOptimal() const { return Fraction::of(unit.num * trees, unit.den) == bound.share; }
};

/// Says how many trees each source of a forest gets.
struct TreeCount {
  std::int64_t least = 1, most = 8; ///< limits of the number; more trees make programs long
  /// Takes the smallest number of trees with which the bandwidth is lower than the bound by at most this share. If
  /// there is no such number, takes the number with the highest bandwidth.
  double tolerance = 0.02;
  bool exact = false; ///< true: takes the number that reaches the bound, whatever `least`, `most` and `tolerance` say
};

/// Returns why there is no forest for these links: a GPU or switch has more bandwidth in than out or the reverse, or
/// some GPU cannot be reached from another one. Returns nothing if there is a forest.
std::optional<std::string> noForest(const time::LinkGraph &graph);

/// Returns trees from all sources. Requires: noForest() is nothing, and there are at least two GPUs and one source.
/// `isSource`: one entry for each GPU.
Forest growForest(const time::LinkGraph &graph, const std::vector<bool> &isSource, const TreeCount &count = {});

} // namespace mscclc::passes::synthesize
