// The links of a machine as a directed graph: GPUs, switches, and the payload that each link carries.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mscclc::passes::time {

struct Machine;

/// A link in one direction.
struct Link {
  std::uint32_t from = 0, to = 0; ///< vertices of the graph
  std::uint64_t rate = 0;         ///< payload in MB/s (1e6 bytes a second)
  friend bool operator==(const Link &, const Link &) = default;
};

/// A graph of GPUs, switches and links. Vertices 0 to `gpus` - 1 are GPUs, in the order of ranks. The other vertices
/// are switches, which only pass data on.
struct LinkGraph {
  std::uint32_t gpus = 0;
  std::vector<std::string> switches; ///< names of the switches, in the order of their vertices
  std::vector<Link> links;
  std::uint32_t perNode = 0; ///< number of GPUs of a node, which are consecutive; 0: there is one node

  std::uint32_t vertices() const { return gpus + static_cast<std::uint32_t>(switches.size()); }
};

/// The links of one node, as a machine file states them under "switches" and "links".
struct Fabric {
  LinkGraph node;           ///< the GPUs and switches of a node, and the switches between nodes
  std::vector<bool> shared; ///< [switch]: true if all nodes are connected to this one switch
};

/// Returns the fabric of a node. If the machine file states no links, the fabric follows from the topology: a switch
/// connects all GPUs at the payload rate of stores, or in a mesh, each pair of GPUs has an equal share of that rate.
/// Each GPU reaches other nodes by its network card.
Fabric fabricOf(const Machine &machine);

/// Returns the payload rate of a GPU's links to other nodes, in GB/s. `gpu` is the number of the GPU in its node.
double networkRate(const Machine &machine, std::uint32_t gpu);

/// Returns the links of all nodes of `machine`. Switches between nodes are the last vertices. If there is one node,
/// these switches are left out.
LinkGraph linksOf(const Machine &machine);

/// The ways between the GPUs of a node. A way goes through as few switches as possible, and through no other GPU.
class LinkPaths {
public:
  LinkPaths() = default; ///< has no links, so all ways are empty
  explicit LinkPaths(const Fabric &fabric);
  /// Returns the links inside the node. They refer to vertices by the numbers of the fabric.
  const std::vector<Link> &links() const { return links_; }
  /// Returns the way from one GPU of the node to another, as indices into links(). It is empty if there is no way.
  std::span<const std::uint32_t> between(std::uint32_t from, std::uint32_t to) const {
    return from < gpus_ && to < gpus_ ? paths_[from * gpus_ + to] : std::span<const std::uint32_t>();
  }

  /// True if there is a way between the two GPUs in at least one direction. Data moves in that direction. Signals need
  /// little bandwidth, so they are allowed in the opposite direction, too.
  bool joins(std::uint32_t a, std::uint32_t b) const { return !between(a, b).empty() || !between(b, a).empty(); }

  /// True if a switch inside the node has links to and from all its GPUs. Only such a switch can reduce and multicast
  /// for the GPUs. If there are several such switches, the first one is used.
  bool hasCommonSwitch() const { return !toSwitch_.empty(); }
  /// toSwitch() returns the link from a GPU to the common switch, and fromSwitch() the link back, as an index into
  /// links(). Both return nothing if there is no common switch.
  std::optional<std::uint32_t> toSwitch(std::uint32_t gpu) const { return linkOf(toSwitch_, gpu); }
  std::optional<std::uint32_t> fromSwitch(std::uint32_t gpu) const { return linkOf(fromSwitch_, gpu); }

private:
  static std::optional<std::uint32_t> linkOf(const std::vector<std::uint32_t> &links, std::uint32_t gpu) {
    return gpu < links.size() ? std::optional(links[gpu]) : std::nullopt;
  }
  void findCommonSwitch(std::uint32_t vertices);

  std::uint32_t gpus_ = 0;
  std::vector<std::uint32_t> toSwitch_, fromSwitch_; ///< [gpu]: index into links_; empty if no switch joins all GPUs
  std::vector<Link> links_;
  std::vector<std::vector<std::uint32_t>> paths_; ///< [from · gpus + to]: the way between two GPUs
};

} // namespace mscclc::passes::time
