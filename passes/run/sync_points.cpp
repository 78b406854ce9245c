#include "passes/run/sync_points.h"

#include "ir/op_semantics.h"
#include "ir/shape_classes.h"

#include <algorithm>

namespace mscclc::passes::prune {

namespace {

std::uint32_t pointsOf(const ir::Op &op) {
  const ir::EffectInfo effect = ir::info(ir::info(op.kind).effect);
  if (effect.sends() || effect.takes())
    return op.numIds;
  return effect.step == ir::OpStep::BlockSync || effect.step == ir::OpStep::Barrier || effect.step == ir::OpStep::Drain;
}

/// Returns the relative cost of a sync point. Barriers make several blocks wait, signals use links, and a nop is the
/// cheapest.
int costOf(ir::OpKind kind) {
  switch (ir::info(kind).step) {
  case ir::OpStep::Barrier:
    return 4;
  case ir::OpStep::Give:
  case ir::OpStep::Take:
    return ir::isSemaphoreOp(kind) ? 2 : 3;
  case ir::OpStep::Drain:
    return 1;
  case ir::OpStep::BlockSync:
  case ir::OpStep::Data:
  case ir::OpStep::Loop:
    break;
  }
  return 0;
}

} // namespace

SyncPoints::SyncPoints(const ProgramIndex &index) : index_(index) {
  firstOp_.reserve(index.numBlocks());
  for (std::uint32_t b = 0; b < index.numBlocks(); ++b) {
    firstOp_.push_back(static_cast<std::uint32_t>(firstPoint_.size()));
    const auto &ops = index.ops(b).ops;
    for (std::uint32_t o = 0; o < ops.size(); ++o) {
      firstPoint_.push_back(count());
      for (std::uint32_t i = 0, n = pointsOf(ops[o]); i < n; ++i)
        places_.push_back({b, o, i});
    }
  }
  firstOp_.push_back(static_cast<std::uint32_t>(firstPoint_.size()));
  firstPoint_.push_back(count());
}

SyncClasses::SyncClasses(const ProgramIndex &index, const SyncPoints &points)
    : index_(index), points_(points), sets_(points.count()), kept_(points.count()) {
  joinEqualRanks();
  for (SyncPoint p = 0; p < points.count(); ++p)
    if (ir::putsAndSignals(points.kind(p)))
      keep(p);
}

void SyncClasses::joinEqualRanks() {
  ir::ShapeClasses classes;
  std::vector<std::uint32_t> firsts; // [class]: its first rank
  for (std::uint32_t r = 0; r < index_.numRanks(); ++r) {
    const std::uint32_t number = classes.of(ir::operationsOf(index_.program.ranks[r]));
    if (number == firsts.size()) {
      firsts.push_back(r);
      continue;
    }
    const SyncPoint first = points_.firstOf(index_.block(r, 0)), last = points_.firstOf(index_.block(r + 1, 0));
    for (SyncPoint p = first; p < last; ++p)
      sets_.join(p, points_.firstOf(index_.block(firsts[number], 0)) + (p - first));
  }
  alike_ = firsts.size() == 1 && index_.numRanks() > 1;
}

void SyncClasses::join(SyncPoint a, SyncPoint b) {
  const bool kept = isKept(a) || isKept(b);
  sets_.join(a, b);
  kept_[find(a)] = kept;
}

std::vector<std::vector<SyncPoint>> SyncClasses::all() const {
  std::vector<std::vector<SyncPoint>> classes;
  std::vector<std::uint32_t> number(points_.count(), none);
  for (SyncPoint p = 0; p < points_.count(); ++p) {
    const SyncPoint syncClass = find(p);
    if (number[syncClass] == none) {
      number[syncClass] = static_cast<std::uint32_t>(classes.size());
      classes.emplace_back();
    }
    classes[number[syncClass]].push_back(p);
  }
  return classes;
}

std::vector<std::vector<SyncPoint>> SyncClasses::candidates() const {
  std::vector<std::vector<SyncPoint>> classes = all();
  std::erase_if(classes, [&](const std::vector<SyncPoint> &o) { return isKept(o[0]); });
  std::ranges::stable_sort(classes, std::greater(),
                           [&](const std::vector<SyncPoint> &o) { return costOf(points_.kind(o[0])); });
  return classes;
}

} // namespace mscclc::passes::prune
