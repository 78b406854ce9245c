#include "passes/time/links.h"

#include "passes/time/machine.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

namespace mscclc::passes::time {

namespace {

std::uint64_t megabytes(double gigabytes) {
  return static_cast<std::uint64_t>(std::llround(gigabytes * 1000));
}

void connect(LinkGraph &graph, std::uint32_t a, std::uint32_t b, std::uint64_t rate) {
  graph.links.push_back({a, b, rate});
  graph.links.push_back({b, a, rate});
}

} // namespace

Fabric fabricOf(const Machine &machine) {
  if (!machine.fabric.node.links.empty())
    return machine.fabric;
  const std::uint32_t gpus = machine.gpusPerNode;
  Fabric fabric{.node = {.gpus = gpus, .switches = {}, .links = {}}, .shared = {}};
  const std::uint64_t store = megabytes(machine.parameters.store);
  if (machine.mesh) {
    for (std::uint32_t a = 0; a < gpus; ++a)
      for (std::uint32_t b = a + 1; b < gpus; ++b)
        connect(fabric.node, a, b, store / (gpus - 1));
  } else {
    fabric.node.switches.push_back("switch");
    fabric.shared.push_back(false);
    for (std::uint32_t gpu = 0; gpu < gpus; ++gpu)
      connect(fabric.node, gpu, gpus, store);
  }
  fabric.node.switches.push_back("network");
  fabric.shared.push_back(true);
  for (std::uint32_t gpu = 0; gpu < gpus; ++gpu)
    connect(fabric.node, gpu, fabric.node.vertices() - 1, megabytes(machine.parameters.nic));
  return fabric;
}

double networkRate(const Machine &machine, std::uint32_t gpu) {
  const LinkGraph &node = machine.fabric.node;
  if (node.links.empty())
    return machine.parameters.nic;
  std::uint64_t rate = 0;
  for (const Link &link : node.links)
    if (link.from == gpu && link.to >= node.gpus && machine.fabric.shared[link.to - node.gpus])
      rate += link.rate;
  return static_cast<double>(rate) / 1000;
}

LinkGraph linksOf(const Machine &machine) {
  const Fabric fabric = fabricOf(machine);
  const LinkGraph &node = fabric.node;
  LinkGraph graph{
      .gpus = static_cast<std::uint32_t>(machine.gpus()), .switches = {}, .links = {}, .perNode = machine.gpusPerNode};
  // Maps [node · vertices of a node + vertex] to the number of that vertex in `graph`.
  std::vector<std::optional<std::uint32_t>> places(std::size_t{machine.nodes} * node.vertices());
  const auto add = [&](std::string name) {
    graph.switches.push_back(std::move(name));
    return graph.vertices() - 1;
  };
  for (std::uint32_t n = 0; n < machine.nodes; ++n) {
    const auto place = places.begin() + std::ptrdiff_t{n} * node.vertices();
    for (std::uint32_t gpu = 0; gpu < node.gpus; ++gpu)
      place[gpu] = n * node.gpus + gpu;
    for (std::size_t s = 0; s < node.switches.size(); ++s)
      if (!fabric.shared[s])
        place[node.gpus + s] = add(node.switches[s] + std::to_string(n));
  }
  for (std::size_t s = 0; s < node.switches.size(); ++s)
    if (fabric.shared[s] && machine.nodes > 1) {
      const std::uint32_t one = add(node.switches[s]);
      for (std::uint32_t n = 0; n < machine.nodes; ++n)
        places[std::size_t{n} * node.vertices() + node.gpus + s] = one;
    }
  for (std::uint32_t n = 0; n < machine.nodes; ++n)
    for (const Link &link : node.links) {
      const auto from = places[std::size_t{n} * node.vertices() + link.from];
      const auto to = places[std::size_t{n} * node.vertices() + link.to];
      if (from && to)
        graph.links.push_back({*from, *to, link.rate});
    }
  return graph;
}

LinkPaths::LinkPaths(const Fabric &fabric) : gpus_(fabric.node.gpus) {
  const auto isShared = [&](std::uint32_t vertex) { return vertex >= gpus_ && fabric.shared[vertex - gpus_]; };
  std::vector<std::vector<std::uint32_t>> leaving(fabric.node.vertices()); // [vertex]: indices into links_
  for (const Link &link : fabric.node.links)
    if (!isShared(link.from) && !isShared(link.to)) {
      leaving[link.from].push_back(static_cast<std::uint32_t>(links_.size()));
      links_.push_back(link);
    }
  paths_.resize(std::size_t{gpus_} * gpus_);
  constexpr std::uint32_t none = 0xffffffff;
  for (std::uint32_t gpu = 0; gpu < gpus_; ++gpu) {
    std::vector<std::uint32_t> cameBy(leaving.size(), none), reached{gpu}; // breadth first
    for (std::size_t i = 0; i < reached.size(); ++i)
      for (const std::uint32_t link : leaving[reached[i]]) {
        const std::uint32_t to = links_[link].to;
        if (to == gpu || cameBy[to] != none || (reached[i] < gpus_ && reached[i] != gpu))
          continue;
        cameBy[to] = link;
        reached.push_back(to);
      }
    for (std::uint32_t to = 0; to < gpus_; ++to)
      for (std::uint32_t at = to; at != gpu && cameBy[at] != none; at = links_[cameBy[at]].from)
        paths_[std::size_t{gpu} * gpus_ + to].insert(paths_[std::size_t{gpu} * gpus_ + to].begin(), cameBy[at]);
  }
  findCommonSwitch(fabric.node.vertices());
}

void LinkPaths::findCommonSwitch(std::uint32_t vertices) {
  constexpr std::uint32_t none = 0xffffffff;
  for (std::uint32_t hub = gpus_; hub < vertices; ++hub) {
    std::vector<std::uint32_t> to(gpus_, none), from(gpus_, none);
    for (std::uint32_t link = 0; link < links_.size(); ++link) {
      if (links_[link].to == hub && links_[link].from < gpus_)
        to[links_[link].from] = link;
      if (links_[link].from == hub && links_[link].to < gpus_)
        from[links_[link].to] = link;
    }
    if (std::ranges::find(to, none) == to.end() && std::ranges::find(from, none) == from.end()) {
      toSwitch_ = std::move(to);
      fromSwitch_ = std::move(from);
      return;
    }
  }
}

} // namespace mscclc::passes::time
