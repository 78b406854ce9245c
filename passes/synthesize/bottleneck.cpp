#include "passes/synthesize/bottleneck.h"

#include "passes/synthesize/link_symmetry.h"
#include "passes/synthesize/max_flow.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>

namespace mscclc::passes::synthesize {

namespace {

/// Returns the number of GPUs, from the first one on, that represent all GPUs if all are sources.
std::uint32_t representatives(const time::LinkGraph &graph) {
  return LinkSymmetry(graph).numRepresentatives();
}

/// Returns the cut with its links and sources. Vertices with `behind` are on the receiving side.
Bottleneck cutAt(const time::LinkGraph &graph, const std::vector<bool> &isSource, const std::vector<bool> &behind) {
  Bottleneck cut;
  std::map<std::uint64_t, std::uint32_t, std::greater<>> counts;
  std::int64_t rate = 0;
  for (const time::Link &link : graph.links)
    if (!behind[link.from] && behind[link.to]) {
      ++counts[link.rate];
      rate += static_cast<std::int64_t>(link.rate);
    }
  for (const auto &[each, count] : counts)
    cut.links.push_back({each, count});
  for (std::uint32_t gpu = 0; gpu < graph.gpus; ++gpu) {
    cut.sources += isSource[gpu];
    cut.across += isSource[gpu] && !behind[gpu];
    if (behind[gpu])
      cut.receivers.push_back(gpu);
  }
  cut.share = Fraction::of(rate, cut.across);
  return cut;
}

} // namespace

Bottleneck findBottleneck(const time::LinkGraph &graph, const std::vector<bool> &isSource) {
  const std::uint32_t source = graph.vertices();
  MaxFlow network(source + 1);
  std::vector<std::uint32_t> links, fromSource;
  for (const time::Link &link : graph.links)
    links.push_back(network.add(link.from, link.to, 0));
  for (std::uint32_t gpu = 0; gpu < graph.gpus; ++gpu)
    fromSource.push_back(network.add(source, gpu, 0));
  const auto setRatio = [&](const Fraction &ratio) { // all capacities are multiplied by the denominator of the ratio
    for (std::size_t i = 0; i < links.size(); ++i)
      network.setCapacity(links[i], static_cast<std::int64_t>(graph.links[i].rate) * ratio.den);
    for (std::uint32_t gpu = 0; gpu < graph.gpus; ++gpu)
      network.setCapacity(fromSource[gpu], isSource[gpu] ? ratio.num : 0);
  };
  const auto alone = [&](std::uint32_t gpu) {
    std::vector<bool> behind(graph.vertices(), false);
    behind[gpu] = true;
    return cutAt(graph, isSource, behind);
  };
  // Starts with cuts that have only one GPU on the receiving side. A GPU that is the only source has no such cut.
  std::optional<Bottleneck> best;
  const auto numSources = std::ranges::count(isSource, true);
  const std::uint32_t gpus = numSources == graph.gpus ? representatives(graph) : graph.gpus;
  for (std::uint32_t gpu = 0; gpu < gpus; ++gpu)
    if (numSources > (isSource[gpu] ? 1 : 0))
      if (Bottleneck cut = alone(gpu); !best || cut.share < best->share)
        best = std::move(cut);
  setRatio(best->share);
  for (std::uint32_t gpu = 0, done = 0; done < gpus && best->share.num != 0; gpu = (gpu + 1) % gpus) {
    const std::int64_t enough = best->share.num * numSources;
    if (network.flow(source, gpu, enough) < enough) {
      std::vector<bool> behind = network.sinkSide(gpu);
      best = cutAt(graph, isSource, behind);
      setRatio(best->share);
      done = 0;
    } else {
      ++done;
    }
  }
  return *best;
}

std::string shownRate(double gigabytes) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.2f", gigabytes);
  std::string shown = text;
  while (shown.ends_with('0'))
    shown.pop_back();
  if (shown.ends_with('.'))
    shown.pop_back();
  return shown;
}

std::string shownRanks(const std::vector<std::uint32_t> &ranks) {
  std::string text;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1)
      ++end;
    text += (text.empty() ? "" : ", ") + std::to_string(ranks[i]);
    if (end - i > 1)
      text += "-" + std::to_string(ranks[end - 1]);
    i = end;
  }
  return text;
}

namespace {
/// Returns "rank 3 receives" or "ranks 0-7 receive".
std::string theyDo(const std::vector<std::uint32_t> &ranks, const std::string &what) {
  return ranks.size() == 1 ? "rank " + shownRanks(ranks) + " " + what + "s" : "ranks " + shownRanks(ranks) + " " + what;
}
} // namespace

std::string allToAllBound(const time::LinkGraph &graph, std::uint32_t ranksPerNode) {
  const std::uint32_t source = graph.vertices(), sink = source + 1;
  MaxFlow network(graph.vertices() + 2);
  for (const time::Link &link : graph.links)
    network.add(link.from, link.to, static_cast<std::int64_t>(link.rate));
  std::vector<std::uint32_t> before, behind;
  for (std::uint32_t gpu = 0; gpu < graph.gpus; ++gpu) {
    before.push_back(network.add(source, gpu, 0));
    behind.push_back(network.add(gpu, sink, 0));
  }
  double least = 0;
  std::string sentence;
  const auto cut = [&](std::uint32_t first, std::uint32_t count) {
    std::vector<std::uint32_t> ranks;
    for (std::uint32_t gpu = 0; gpu < graph.gpus; ++gpu) {
      const bool isBehind = gpu >= first && gpu < first + count;
      network.setCapacity(before[gpu], isBehind ? 0 : MaxFlow::unlimited);
      network.setCapacity(behind[gpu], isBehind ? MaxFlow::unlimited : 0);
      if (isBehind)
        ranks.push_back(gpu);
    }
    const double rate = static_cast<double>(network.flow(source, sink)) / 1000;
    const Fraction messages = Fraction::of(std::int64_t{count} * (graph.gpus - count), graph.gpus);
    if (const double bound = rate / messages.value(); sentence.empty() || bound < least) {
      least = bound;
      sentence = theyDo(ranks, "receive") + " " + std::to_string(messages.num) +
                 (messages.den == 1 ? "" : "/" + std::to_string(messages.den)) +
                 (messages == Fraction{1, 1} ? " message"
                  : messages.den == 1        ? " messages"
                                             : " of a message") +
                 " through " + shownRate(rate) + " GB/s: " + shownRate(bound) + " GB/s";
    }
  };
  const std::uint32_t gpus = representatives(graph);
  for (std::uint32_t gpu = 0; gpu < gpus; ++gpu)
    cut(gpu, 1);
  for (std::uint32_t first = 0; first < gpus && ranksPerNode < graph.gpus; first += ranksPerNode)
    cut(first, ranksPerNode);
  if (const std::uint32_t half = graph.gpus / ranksPerNode / 2 * ranksPerNode; half != 0)
    cut(0, half);
  return sentence;
}

std::string Bottleneck::sentence(bool sends) const {
  const Fraction part = Fraction::of(across, sources);
  std::string text = theyDo(receivers, sends ? "send" : "receive") + " ";
  text += part.num == part.den ? "all of the data"
                               : std::to_string(part.num) + "/" + std::to_string(part.den) + " of the data";
  for (std::size_t i = 0; i < links.size(); ++i)
    text += (i == 0 ? " through " : " + ") + std::to_string(links[i].count) + " x " +
            shownRate(static_cast<double>(links[i].rate) / 1000);
  return text + (links.empty() ? " through no link" : " GB/s: " + shownRate(bandwidth()) + " GB/s");
}

} // namespace mscclc::passes::synthesize
