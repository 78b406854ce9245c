// What one launch leaves to the next in scratch.
#pragma once

#include "passes/schedule/nodes.h"

#include <map>
#include <set>
#include <vector>

namespace mscclc::passes::schedule {

/// What a node waits for: another node, or the launch of the rank that an agent is of.
struct Source {
  std::uint32_t node = 0; ///< or the agent
  bool begin = false;
  bool byPackets = false; ///< packets tell it, and only to the thread that took them
};

/// What each node waits for, and what each agent waits for at its end.
struct Sources {
  std::vector<std::vector<Source>> ofNode;
  std::vector<std::vector<Source>> ofEnd;
};

/// Ranks whose launch must have begun before a statement, besides those whose buffers it touches.
using Entries = std::map<std::uint32_t, std::set<std::uint32_t>>;

/// Adds to `entries` what statements must wait for so that none meets in scratch what an earlier launch still does
/// there. Scratch is taken as a whole: launches of another message size have their chunks elsewhere. With double
/// scratch, the launch before the last is what counts. True if something was missing.
bool addMissingEntries(const ir::Program &program, const StatementGraph &graph, const Nodes &nodes,
                       const Sources &sources, Entries &entries);

} // namespace mscclc::passes::schedule
