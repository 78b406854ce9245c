// What one launch leaves to the next in scratch.
#pragma once

#include "passes/schedule/node_symmetry.h"
#include "passes/schedule/nodes.h"

#include <map>
#include <set>
#include <span>
#include <vector>

namespace mscclc::passes::schedule {

/// What a node waits for: another node, or the launch of the rank that an agent is of.
struct Source {
  std::uint32_t node = 0; ///< or the agent
  bool begin = false;
  bool byPackets = false; ///< packets tell it, and only to the thread that took them
};

/// What each node of the ranks that are planned waits for (see NodeSymmetry), and what each agent waits for at its end.
class Sources {
public:
  explicit Sources(std::uint32_t agents) : ofEnd(agents) {}

  /// What is added from here on is of the next node.
  void beginNode() { first_.push_back(ofNodes_.size()); }
  void add(const Source &source) { ofNodes_.push_back(source); }
  std::span<const Source> ofNode(std::uint32_t node) const {
    return std::span(ofNodes_).subspan(first_[node],
                                       (node + 1 < first_.size() ? first_[node + 1] : ofNodes_.size()) - first_[node]);
  }
  std::span<const Source> ofNodes() const { return ofNodes_; }

  std::vector<std::vector<Source>> ofEnd; ///< [agent]

private:
  std::vector<Source> ofNodes_;    ///< one node after the other
  std::vector<std::size_t> first_; ///< [node]
};

/// Ranks whose launch must have begun before a statement, besides those whose buffers it touches.
using Entries = std::map<std::uint32_t, std::set<std::uint32_t>>;

/// Adds to `entries` what statements must wait for so that none meets in scratch what an earlier launch still does
/// there. Scratch is taken as a whole: launches of another message size have their chunks elsewhere. With double
/// scratch, the launch before the last is what counts. `sources` and `entries` are of the ranks that `symmetry` plans.
/// False if nothing is missing.
bool addMissingEntries(const ir::Program &program, const StatementGraph &graph, const Nodes &nodes,
                       const NodeSymmetry &symmetry, const Sources &sources, Entries &entries);

} // namespace mscclc::passes::schedule
