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

/// Vertices 0 to gpus - 1 are GPUs, in the order of ranks. The others are switches, which only pass data on.
struct LinkGraph {
  std::uint32_t gpus = 0;
  std::vector<std::string> switches; ///< names, in the order of their vertices
  std::vector<Link> links;
  std::uint32_t perNode = 0; ///< GPUs of a node, which have consecutive numbers; 0: all

  std::uint32_t vertices() const { return gpus + static_cast<std::uint32_t>(switches.size()); }
};

/// The links of one node, as a machine file states them under "switches" and "links".
struct Fabric {
  LinkGraph node;           ///< the GPUs and switches of a node, and the switches between nodes
  std::vector<bool> shared; ///< [switch]: all nodes are connected to this one switch
};

/// Returns the fabric of a node. If the machine file states none, it is that of its topology. A switch connects all
/// GPUs at the payload of stores. In a mesh, each pair of GPUs has its share of that. Between nodes, each GPU has its
/// network card.
Fabric fabricOf(const Machine &machine);

/// Returns the payload of a GPU's links to other nodes, in GB/s. `gpu`: its number in the node.
double networkRate(const Machine &machine, std::uint32_t gpu);

/// Returns the links of all nodes of `machine`. Switches between nodes are the last vertices. If there is one node,
/// they are left out.
LinkGraph linksOf(const Machine &machine);

/// The ways inside a node, each through as few switches as possible. No way goes through another GPU.
class LinkPaths {
public:
  LinkPaths() = default; ///< no links, so all ways are empty
  explicit LinkPaths(const Fabric &fabric);
  /// Returns the links inside the node. Its switches are vertices as in the fabric.
  const std::vector<Link> &links() const { return links_; }
  /// Returns the links from one GPU of the node to another, as indices into links(). Empty: there is no way.
  std::span<const std::uint32_t> between(std::uint32_t from, std::uint32_t to) const {
    return from < gpus_ && to < gpus_ ? paths_[from * gpus_ + to] : std::span<const std::uint32_t>();
  }

  /// True if data can go from one of the GPUs to the other in some direction. Signals need little, so they may go in
  /// the other one.
  bool joins(std::uint32_t a, std::uint32_t b) const { return !between(a, b).empty() || !between(b, a).empty(); }

  /// True if a switch inside the node has links to and from all its GPUs. Only such a switch can reduce and multicast
  /// for them. If there are several, the first one does.
  bool hasCommonSwitch() const { return !toSwitch_.empty(); }
  /// Returns the link from a GPU to that switch, or back, as an index into links(). Nothing: there is no such switch.
  std::optional<std::uint32_t> toSwitch(std::uint32_t gpu) const { return linkOf(toSwitch_, gpu); }
  std::optional<std::uint32_t> fromSwitch(std::uint32_t gpu) const { return linkOf(fromSwitch_, gpu); }

private:
  static std::optional<std::uint32_t> linkOf(const std::vector<std::uint32_t> &links, std::uint32_t gpu) {
    return gpu < links.size() ? std::optional(links[gpu]) : std::nullopt;
  }
  void findCommonSwitch(std::uint32_t vertices);

  std::uint32_t gpus_ = 0;
  std::vector<std::uint32_t> toSwitch_, fromSwitch_; ///< [gpu]; empty if no switch joins all GPUs
  std::vector<Link> links_;
  std::vector<std::vector<std::uint32_t>> paths_; ///< [from · gpus + to]
};

} // namespace mscclc::passes::time
