#include "passes/time/topology.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <numeric>
#include <string>

namespace mscclc::passes::time {

namespace {

/// Returns the share of its line rate that a network card carries as payload. The line rate is the least of 12.5, 25,
/// 50, … GB/s that is not below `payload`.
double usedPart(double payload) {
  double lineRate = 12.5;
  while (lineRate < payload)
    lineRate *= 2;
  return payload / lineRate;
}

/// Returns, for each GPU, the payload rate of the cards that it uses, in GB/s.
std::vector<double> networkRates(const Topology &topology, const Machine &base) {
  std::vector<std::vector<std::size_t>> nearest(topology.gpus());
  std::map<std::size_t, double> users; // [card]: number of GPUs that use it
  for (std::size_t gpu = 0; gpu < topology.gpus(); ++gpu) {
    const std::vector<std::size_t> &distances = topology.distances[gpu];
    const std::size_t closest = std::ranges::min(distances.empty() ? std::vector{Topology::unreachable} : distances);
    for (std::size_t card = 0; card < distances.size() && closest != Topology::unreachable; ++card)
      if (distances[card] == closest) {
        nearest[gpu].push_back(card);
        ++users[card];
      }
  }
  std::vector<double> rates;
  const double nic = base.parameters.nic, part = usedPart(nic);
  for (const std::vector<std::size_t> &cards : nearest) {
    double rate = topology.cards.empty() ? nic : 0;
    for (const std::size_t card : cards)
      rate += (topology.cards[card] != 0 ? topology.cards[card] * part : nic) / users[card];
    rates.push_back(rate);
  }
  return rates;
}

std::string fileOf(const Topology &topology, const Machine &base) {
  const std::size_t gpus = topology.gpus();
  unsigned most = 1; // the largest number of links that a GPU has
  for (std::size_t a = 0; a < gpus; ++a)
    most =
        std::max(most, std::accumulate(topology.nvlinks[a].begin(), topology.nvlinks[a].end(), topology.toSwitch[a]));
  const auto rateOf = [&](unsigned links) { return base.parameters.store * links / most; };
  const auto gpu = [](std::size_t number) { return "gpu" + std::to_string(number); };
  nlohmann::json file{{"gpus_per_node", gpus}, {"topology", "links"}, {"links", nlohmann::json::array()}};
  const auto connect = [&](const std::string &a, const std::string &b, double rate) {
    if (rate > 0)
      file["links"].push_back({{"ends", {a, b}}, {"rate", rate}});
  };
  const auto [fewest, widest] = std::ranges::minmax(topology.toSwitch);
  if (widest != 0) {
    file["switches"].push_back({{"name", "nvswitch"}});
    for (std::size_t a = 0; a < gpus && fewest != widest; ++a)
      connect(gpu(a), "nvswitch", rateOf(topology.toSwitch[a]));
    if (fewest == widest)
      connect("gpus", "nvswitch", rateOf(widest));
  }
  for (std::size_t a = 0; a < gpus; ++a)
    for (std::size_t b = a + 1; b < gpus; ++b) {
      const unsigned both = std::min(topology.nvlinks[a][b], topology.nvlinks[b][a]);
      connect(gpu(a), gpu(b), rateOf(both));
      for (const auto &[from, to] : {std::pair{a, b}, std::pair{b, a}})
        if (const unsigned more = topology.nvlinks[from][to] - both; more != 0)
          file["links"].push_back({{"from", gpu(from)}, {"to", gpu(to)}, {"rate", rateOf(more)}});
    }
  file["switches"].push_back({{"name", "network"}, {"between_nodes", true}});
  const std::vector<double> rates = networkRates(topology, base);
  for (std::size_t a = 0; a < gpus; ++a)
    connect(gpu(a), "network", rates[a]);
  return file.dump();
}

} // namespace

std::optional<std::string> linksOfTopology(std::string_view text, const Machine &base) {
  std::optional<Topology> topology = readTopologyXml(text);
  if (!topology)
    topology = readTopologyMatrix(text, !base.mesh);
  return topology ? std::optional(fileOf(*topology, base)) : std::nullopt;
}

} // namespace mscclc::passes::time
