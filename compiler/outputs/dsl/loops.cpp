#include "compiler/outputs/dsl/loops.h"

namespace mscclc::dsl {
namespace {

constexpr formula::Variable rankVariable{"rank"};

/// Returns the number that the loop skips on `rank`; -1 if it skips none.
std::int64_t skippedBy(const LoopStyle &style, std::uint32_t rank) {
  switch (style.kind) {
  case LoopStyle::Kind::Count:
    break;
  case LoopStyle::Kind::SkipRank:
    return rank;
  case LoopStyle::Kind::SkipInNode:
    return rank % style.node;
  case LoopStyle::Kind::SkipNode:
    return rank / style.node;
  }
  return -1;
}

} // namespace

LoopSpace::LoopSpace(const std::vector<std::uint32_t> &ranks, std::uint32_t numRanks,
                     const std::vector<std::uint32_t> &nodes, std::vector<Loop> loops)
    : loops_(std::move(loops)) {
  std::size_t inner = 1; // number of points for one rank
  for (const Loop &loop : loops_) {
    inner *= loop.count;
    variables_.push_back({loop.name});
  }
  const std::size_t points = ranks.size() * inner;
  std::vector<formula::Axis> axes(1);
  axes[0].variable = &rankVariable;
  for (const std::uint32_t rank : ranks)
    axes[0].at.insert(axes[0].at.end(), inner, static_cast<std::int32_t>(rank));
  std::size_t stride = inner;
  for (std::size_t i = 0; i < loops_.size(); ++i) {
    const Loop &loop = loops_[i];
    stride /= loop.count;
    formula::Axis axis{.variable = &variables_[i], .countsUp = loop.style.kind == LoopStyle::Kind::Count};
    axis.at.reserve(points);
    for (std::size_t p = 0; p < points; ++p) {
      const auto k = static_cast<std::int64_t>(p / stride % loop.count);
      const std::int64_t skipped = skippedBy(loop.style, ranks[p / inner]);
      axis.at.push_back(static_cast<std::int32_t>(k + loop.style.first + (skipped >= 0 && k >= skipped)));
    }
    axes.push_back(std::move(axis));
  }
  space_ = std::make_unique<formula::Space>(std::move(axes), points, numRanks, nodes);
}

} // namespace mscclc::dsl
