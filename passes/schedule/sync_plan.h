// Plans the waits between statements, across blocks and launches. Leaves out waits that follow from other waits.
//
// The list order of statements makes each thread block a sequence of *nodes*. A node is a statement, or the arrival of
// a port's put on the rank that receives it. In addition, each rank has a user, who writes its inputs and reads and
// overwrites both buffers between launches. The user's nodes are the beginning and the end of a launch. A node needs
// the nodes on which it depends, and the beginning of the launch on each rank whose buffers it touches. The end of a
// launch needs all nodes that touch its rank's buffers. A need gets no edge if the block already knows that it is
// satisfied: by an earlier edge, or by what the sender of an earlier edge knew (Netzer's reduction, on the list order).
//
// Example: block A writes x and then signals B. B reads x, writes y and signals C. C reads x and y. C needs A and B,
// but only the edge from B to C is planned, because B knew of A's write when it signalled.
//
// Nodes of a block with the same depth, in edges from the beginning, form a *group*. A group waits for all its needs
// before its first node, and signals after its last node. An edge always leads to a deeper group, so groups cannot wait
// for each other in a circle.
//
// If a run of a port's puts brings several pieces of data to one group, only the last put signals. A port does the
// requests on one channel in order, so the earlier puts have arrived by then.
//
// In a pipeline, a put is flushed when its block has put all units. A proxy serves one request after the other, and a
// flush holds the proxy until the put has left. So if each unit were flushed, the puts of all blocks of a rank would
// leave one after the other. A statement that overwrites the source in the same launch has to know that the put has
// arrived, because then the source has been read. If the statement does not know that, each unit is flushed. For the
// next launch, a source in scratch is in use until the block ends (launches.h).
//
// If a block needs more channels than an executor's block may have, other blocks take over some of these channels (see
// relays.h).
#pragma once

#include "passes/analyses.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace mscclc::passes::schedule {

/// How a block signals another block along an edge.
enum class Carrier : std::uint8_t {
  Semaphore,     ///< within a rank
  MemorySignal,  ///< within a node
  RelaxedSignal, ///< within a node, if no data of this launch depends on the signal
  PortSignal,    ///< between nodes
  Put,           ///< the signal that ends a port's put; a put without such an edge does not signal
};

/// One end of an edge. `agent` is the block at the other end, and `carrier` is the kind of signal.
struct Sync {
  std::uint32_t agent = 0;
  Carrier carrier = Carrier::Semaphore;
  bool entry = false;          ///< the edge only says that the agent's rank has begun its launch
  std::uint32_t statement = 0; ///< the statement that needs the edge
  friend bool operator==(const Sync &, const Sync &) = default;
};

/// A statement of a block, or the arrival of a port's put.
struct Node {
  std::uint32_t statement = 0;
  bool arrives = false; ///< true: the arrival of the data that the statement has put
};

/// A group of nodes. Waits are sorted, and so are signals: entries come first. Syncs of one kind are adjacent, so that
/// they can be fused. Syncs of a kind are in the order of distance, so that all ranks do the same.
struct Group {
  std::uint32_t depth = 0;
  std::vector<Sync> waits;
  std::vector<Node> nodes;
  std::vector<Sync> signals;
};

class Nodes;
class NodeSymmetry;

/// The work of each block, group by group. An agent is the number of a block among the blocks of all ranks.
struct SyncPlan {
  struct Agent {
    std::uint32_t rank = 0, block = 0;
    std::vector<Group> planned; ///< empty if the agent of rank 0 with the same block represents it
  };
  std::vector<Agent> agents; ///< sorted by rank, then by block
  bool isOneRank = false;    ///< the plan has only rank 0, which represents all ranks
  std::vector<bool> flushed; ///< [statement]: a port's put that its block flushes at once, and not at its end

  /// Returns the groups of an agent. These are valid as long as the plan exists, and until `room` is used again.
  const std::vector<Group> &groupsOf(std::uint32_t agent, std::vector<Group> &room) const;

  // The representatives; `symmetry` refers to `nodes`.
  std::shared_ptr<const Nodes> nodes;
  std::shared_ptr<const NodeSymmetry> symmetry;
};

/// Plans the synchronisation of `program`, whose statements are placed, ordered and cut. `mostPeers`: the most blocks
/// of other ranks to which one block can have channels.
SyncPlan planSync(const ir::Program &program, Analyses &analyses, std::uint32_t mostPeers);
/// Plans the synchronisation of rank 0 only. Returns nothing if not all ranks are equivalent.
std::optional<SyncPlan> planOneRank(const ir::Program &program, Analyses &analyses, std::uint32_t mostPeers);

} // namespace mscclc::passes::schedule
