#include "passes/synthesize/link_symmetry.h"

#include <map>
#include <utility>

namespace mscclc::passes::synthesize {

namespace {

/// A link as one of its ends sees it.
struct SeenLink {
  bool leaves = false;
  bool toSwitch = false;
  std::uint32_t other = 0; ///< the distance to the GPU at the other end, or the number of the switch
  std::uint64_t rate = 0;
  auto operator<=>(const SeenLink &) const = default;
};

struct LinkStage {
  std::vector<std::pair<std::uint32_t, SeenLink>> ends; ///< [end]: its GPU, and the link as this GPU sees it

  std::uint32_t rankOf(std::uint32_t end) const { return ends[end].first; }
  bool isAs(std::uint32_t end, std::uint32_t first) const { return ends[end].second == ends[first].second; }
  void eachNeed(std::uint32_t, auto &&) const {}
};

/// Returns the ends of links that are at GPUs; nothing if a link joins two switches.
LinkStage stageOf(const time::LinkGraph &graph, const RankDistances &numbering) {
  std::vector<std::vector<const time::Link *>> ofSwitch(graph.switches.size());
  for (const time::Link &link : graph.links) {
    if (link.from >= graph.gpus && link.to >= graph.gpus)
      return {};
    if (link.from >= graph.gpus)
      ofSwitch[link.from - graph.gpus].push_back(&link);
    if (link.to >= graph.gpus)
      ofSwitch[link.to - graph.gpus].push_back(&link);
  }
  std::map<std::vector<SeenLink>, std::uint32_t> lists; // [links of a switch]: number of this list
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> known;
  const auto switchFrom = [&](std::uint32_t gpu, std::uint32_t vertex) {
    const auto [at, isNew] = known.try_emplace({gpu, vertex});
    if (isNew) {
      std::vector<SeenLink> list;
      for (const time::Link *link : ofSwitch[vertex - graph.gpus])
        list.push_back({link->from == vertex, false,
                        numbering.between(gpu, link->from == vertex ? link->to : link->from), link->rate});
      std::ranges::sort(list);
      at->second = lists.try_emplace(std::move(list), static_cast<std::uint32_t>(lists.size())).first->second;
    }
    return at->second;
  };
  LinkStage stage;
  const auto add = [&](std::uint32_t gpu, std::uint32_t other, bool leaves, std::uint64_t rate) {
    if (gpu >= graph.gpus)
      return;
    const bool toSwitch = other >= graph.gpus;
    const std::uint32_t seen = toSwitch ? switchFrom(gpu, other) : numbering.between(gpu, other);
    stage.ends.push_back({gpu, {leaves, toSwitch, seen, rate}});
  };
  for (const time::Link &link : graph.links) {
    add(link.from, link.to, true, link.rate);
    add(link.to, link.from, false, link.rate);
  }
  std::ranges::sort(stage.ends);
  return stage;
}

RankDistances numberingOf(const time::LinkGraph &graph) {
  const bool isWhole = graph.perNode != 0 && graph.gpus % graph.perNode == 0;
  return {graph.gpus, isWhole ? graph.perNode : graph.gpus};
}

} // namespace

LinkSymmetry::LinkSymmetry(const time::LinkGraph &graph) : RankSymmetry(numberingOf(graph), 0) {
  const LinkStage stage = stageOf(graph, numberingOf(graph));
  standApart(stage.ends.size());
  if (!stage.ends.empty())
    findOut(stage);
}

} // namespace mscclc::passes::synthesize
