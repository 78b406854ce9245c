// Plans the waits between statements, across blocks and launches. Leaves out waits that follow from other waits.
//
// The list order of statements makes each thread block a sequence of *nodes*. A node is a statement, or the arrival of
// a port's put on the rank that receives it. In addition, each rank has a user, who writes its inputs and reads and
// overwrites both buffers between launches. The user's nodes are the beginning and the end of a launch. A node needs
// the nodes on which it depends, and the beginning of the launches whose buffers it touches. The end of a launch needs
// all nodes that touch its rank's buffers. A need gets no edge if the block already knows that it is satisfied: by an
// earlier edge, or by what the sender of an earlier edge knew (Netzer's reduction, on the list order).
//
// Example: block A writes x and then signals B. B reads x, writes y and signals C. C reads x and y. C needs A and B,
// but only the edge from B to C is planned, because B knew of A's write when it signalled.
//
// Nodes of a block with the same depth, in edges from the beginning, form a *group*. A group waits for all its needs
// before its first node, and signals after its last node. An edge always leads to a deeper group, so groups cannot wait
// for each other in a circle.
//
// If a run of a port's puts brings several pieces of data to one group, only the last one signals. For a port does what
// it is asked on one channel in that order, so then the others have arrived, too.
//
// In a pipeline, a put is flushed when its block has put all units. A proxy serves one request after the other, and a
// flush holds it until the put has left. So if each unit were flushed, the puts of all blocks of a rank would leave one
// after the other. Whoever overwrites the source in the launch has to know that the put has arrived: then its source
// has been read. If it does not, each unit is flushed. For the next launch, a source in scratch is in use until the
// block ends (launches.h).
//
// If a block needs more channels than an executor's block may have, other blocks have some of them (see relays.h).
#pragma once

#include "passes/analyses.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace mscclc::passes::schedule {

/// The means of an edge to another block.
enum class Carrier : std::uint8_t {
  Semaphore,     ///< within a rank
  MemorySignal,  ///< within a node
  RelaxedSignal, ///< the same, if no data of this launch depends on it
  PortSignal,    ///< between nodes
  Put,           ///< the signal that ends a port's put; a put without such an edge does not signal
};

/// One end of an edge: the block at its other end, and the means.
struct Sync {
  std::uint32_t agent = 0;
  Carrier carrier = Carrier::Semaphore;
  bool entry = false;          ///< the edge only says that the agent's rank has begun its launch
  std::uint32_t statement = 0; ///< the statement that needs the edge
  friend bool operator==(const Sync &, const Sync &) = default;
};

/// A statement of a block, or an arrival.
struct Node {
  std::uint32_t statement = 0;
  bool arrives = false; ///< it is the arrival of the data that the statement has put
};

/// A group of nodes. Its waits and its signals are each sorted by distance, so that all ranks do the same. Those of one
/// kind are adjacent, so that they can be fused. Entries come first.
struct Group {
  std::uint32_t depth = 0;
  std::vector<Sync> waits;
  std::vector<Node> nodes;
  std::vector<Sync> signals;
};

class Nodes;
class NodeSymmetry;

/// The work of each block, group by group. The blocks of all ranks are numbered; these numbers are agents.
struct SyncPlan {
  struct Agent {
    std::uint32_t rank = 0, block = 0;
    std::vector<Group> planned; ///< empty if the agent of rank 0 with the same block represents it
  };
  std::vector<Agent> agents; ///< by rank, then block
  bool isOneRank = false;    ///< it has only rank 0, which represents all ranks
  std::vector<bool> flushed; ///< [statement]: a port's put that its block flushes at once, and not at its end

  /// Returns the groups of an agent. They are valid as long as the plan, and until `room` is used again.
  const std::vector<Group> &groupsOf(std::uint32_t agent, std::vector<Group> &room) const;

  // The representatives; `symmetry` refers to `nodes`.
  std::shared_ptr<const Nodes> nodes;
  std::shared_ptr<const NodeSymmetry> symmetry;
};

/// Plans the synchronisation of `program`, whose statements are placed, ordered and cut. `mostPeers`: the most blocks
/// of other ranks to which one block can have channels.
SyncPlan planSync(const ir::Program &program, Analyses &analyses, std::uint32_t mostPeers);
/// Does the same only for rank 0. Returns nothing if not all ranks are equivalent.
std::optional<SyncPlan> planOneRank(const ir::Program &program, Analyses &analyses, std::uint32_t mostPeers);

} // namespace mscclc::passes::schedule
