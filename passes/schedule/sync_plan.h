// Which statements wait for which, over blocks and launches, with nothing that follows from the rest.
//
// The list order of statements makes each thread block a sequence of *nodes*: a statement, or the arrival of what a
// port has put, on the rank that gets it. Each rank has a user besides, who writes its inputs and reads and overwrites
// both buffers between launches: its nodes are the beginning and the end of a launch. A node needs the nodes that it
// depends on, the beginning of launches whose buffers it touches, and the end of a launch needs what touches its rank's
// buffers. What a block knows already, since an earlier edge or what that block had known in turn says so, needs no
// edge of its own (Netzer's reduction, on the list order).
//
// Nodes of a block that are equally deep, in edges from the beginning, form a *group*: it waits for all it needs
// before its first node, and signals after its last. An edge always leads to a deeper group, so the groups can not wait
// for each other in a circle.
//
// Where a block needs more channels than an executor's block may have, others have some of them (see relays.h).
#pragma once

#include "passes/analyses.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace mscclc::passes::schedule {

/// What carries an edge to another block.
enum class Carrier : std::uint8_t {
  Semaphore,     ///< inside a rank
  MemorySignal,  ///< inside a node
  RelaxedSignal, ///< the same, where no data of this launch is behind it
  PortSignal,    ///< between nodes
  Put,           ///< the signal that ends a port's put
};

/// One end of an edge: the block at its other end, and what carries it.
struct Sync {
  std::uint32_t agent = 0;
  Carrier carrier = Carrier::Semaphore;
  bool entry = false;          ///< it says that the launch of the agent's rank has begun, and no more
  std::uint32_t statement = 0; ///< the one that the edge is there for
  friend bool operator==(const Sync &, const Sync &) = default;
};

struct Node {
  std::uint32_t statement = 0;
  bool arrives = false; ///< what the statement has put is there
};

/// Its waits and its signals are each in the order of distance, so that all ranks do the same, and those of one kind
/// side by side, so that they fuse. Entries come first.
struct Group {
  std::uint32_t depth = 0;
  std::vector<Sync> waits;
  std::vector<Node> nodes;
  std::vector<Sync> signals;
};

class Nodes;
class NodeSymmetry;

/// What each block does, group by group. Blocks of all ranks are numbered as agents.
struct SyncPlan {
  struct Agent {
    std::uint32_t rank = 0, block = 0;
    std::vector<Group> planned; ///< nothing if the agent of rank 0 with its block stands for it
  };
  std::vector<Agent> agents; ///< by rank, then block
  bool isOneRank = false;    ///< of rank 0 alone, where all ranks do the same

  /// What an agent does; lives as long as the plan, and until `room` is used again.
  const std::vector<Group> &groupsOf(std::uint32_t agent, std::vector<Group> &room) const;

  // What stands for what; `symmetry` refers to `nodes`.
  std::shared_ptr<const Nodes> nodes;
  std::shared_ptr<const NodeSymmetry> symmetry;
};

/// Plans the synchronisation of `program`, whose statements are placed, ordered and cut. `mostPeers`: blocks of other
/// ranks that one block can have channels to.
SyncPlan planSync(const ir::Program &program, Analyses &analyses, std::uint32_t mostPeers);
/// The same of rank 0 alone; nothing if not all ranks do the same.
std::optional<SyncPlan> planOneRank(const ir::Program &program, Analyses &analyses, std::uint32_t mostPeers);

} // namespace mscclc::passes::schedule
