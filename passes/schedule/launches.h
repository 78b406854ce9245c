// Finds conflicts between consecutive launches in scratch.
#pragma once

#include "passes/schedule/node_symmetry.h"
#include "passes/schedule/nodes.h"

#include <map>
#include <set>
#include <span>
#include <vector>

namespace mscclc::passes::schedule {

/// The thing that a node waits for: another node, or the launch of an agent's rank.
struct Source {
  std::uint32_t node = 0; ///< for the beginning of a launch, an agent of its rank
  bool begin = false;
  bool byPackets = false; ///< packets show this, but only to the thread that took them
};

/// The sources of each node of the planned ranks (see NodeSymmetry), and the sources of each agent's end.
class Sources {
public:
  explicit Sources(std::uint32_t agents) : ofEnd(agents) {}

  /// Begins the next node. Sources that are added from here on belong to it.
  void beginNode() { first_.push_back(ofNodes_.size()); }
  void add(const Source &source) { ofNodes_.push_back(source); }
  std::span<const Source> ofNode(std::uint32_t node) const {
    return std::span(ofNodes_).subspan(first_[node],
                                       (node + 1 < first_.size() ? first_[node + 1] : ofNodes_.size()) - first_[node]);
  }
  std::span<const Source> ofNodes() const { return ofNodes_; }

  std::vector<std::vector<Source>> ofEnd; ///< [agent]

private:
  std::vector<Source> ofNodes_;    ///< the sources of all nodes, one node after the other
  std::vector<std::size_t> first_; ///< [node]
};

/// For each statement: ranks whose launch must have begun before it, in addition to the ranks whose buffers it touches.
using Entries = std::map<std::uint32_t, std::set<std::uint32_t>>;

/// Adds to `entries` the waits without which a statement could conflict in scratch with an earlier launch. Example:
/// rank 1 puts data into scratch of rank 0 at the beginning of each launch, and a block of rank 0 reads it at the end.
/// Without an entry, rank 1 could overwrite the data of launch 1 in launch 2 while rank 0 still reads it.
///
/// Scratch counts as a whole, because launches with another message size place chunks differently. With double scratch,
/// the launch before the previous one counts. `sources` and `entries` belong to the ranks that `symmetry` plans.
/// `flushed`: see SyncPlan. If a put is not flushed at once, a port may read its source until the block ends. Returns
/// false if no wait was missing.
bool addMissingEntries(const ir::Program &program, const StatementGraph &graph, const Nodes &nodes,
                       const NodeSymmetry &symmetry, const Sources &sources, const std::vector<bool> &flushed,
                       Entries &entries);

} // namespace mscclc::passes::schedule
