// Machines for tests of synthesis.
#pragma once

#include "passes/time/machine.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <random>
#include <string>

namespace tests {

/// Returns the machine of a file in topologies/, whose links have line rates, with the parameters of h100x8.
inline mscclc::passes::time::Machine topology(const std::string &name, std::uint32_t nodes = 1) {
  const std::filesystem::path root = MSCCLC_SOURCE_DIR;
  std::ifstream base(root / "passes/time/machines/h100x8.json");
  std::ifstream links(root / "tests/unit/passes-synthesize/topologies" / (name + ".json"));
  nlohmann::json file = nlohmann::json::parse(base);
  file.update(nlohmann::json::parse(links));
  file["topology"] = "links";
  mscclc::passes::time::Machine machine = mscclc::passes::time::parseMachine(file.dump());
  machine.nodes = nodes;
  return machine;
}

/// Returns a machine of 2 to `mostGpus` GPUs and up to two switches, in which each GPU reaches all others. Links have
/// few rates. Some are pairs, some are rings in one direction, so each vertex has as much bandwidth in as out.
inline mscclc::passes::time::LinkGraph randomLinks(std::mt19937 &random, std::uint32_t mostGpus) {
  const auto draw = [&](std::uint32_t from, std::uint32_t to) { return from + random() % (to - from + 1); };
  mscclc::passes::time::LinkGraph graph;
  graph.gpus = draw(2, mostGpus);
  for (std::uint32_t s = draw(0, 2); s > 0; --s)
    graph.switches.push_back("s" + std::to_string(s));
  const std::uint64_t rates[] = {1000 * draw(1, 5), 1000 * draw(1, 40), 48350};
  const auto connect = [&](std::uint32_t a, std::uint32_t b, std::uint64_t rate) {
    graph.links.push_back({a, b, rate});
    graph.links.push_back({b, a, rate});
  };
  for (std::uint32_t vertex = 1; vertex < graph.vertices(); ++vertex) // a tree, so that all are connected
    connect(vertex, draw(0, vertex - 1), rates[draw(0, 2)]);
  for (std::uint32_t more = draw(0, 2 * graph.vertices()); more > 0; --more)
    if (const std::uint32_t a = draw(0, graph.vertices() - 1), b = draw(0, graph.vertices() - 1); a != b)
      connect(a, b, rates[draw(0, 2)]);
  for (std::uint32_t rings = draw(0, 2); rings > 0; --rings) {
    std::vector<std::uint32_t> ring(graph.vertices());
    for (std::uint32_t i = 0; i < ring.size(); ++i)
      ring[i] = i;
    std::shuffle(ring.begin(), ring.end(), random);
    ring.resize(std::max<std::size_t>(2, ring.size() / 2));
    const std::uint64_t rate = rates[draw(0, 2)];
    for (std::size_t i = 0; i < ring.size(); ++i)
      graph.links.push_back({ring[i], ring[(i + 1) % ring.size()], rate});
  }
  return graph;
}

} // namespace tests
