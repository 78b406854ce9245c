#include "passes/run/sync_pieces.h"

#include "ir/op_semantics.h"
#include "ir/shape_classes.h"

#include <algorithm>

namespace mscclc::passes::prune {

namespace {

std::uint32_t piecesOf(const ir::Op &op) {
  const ir::EffectInfo effect = ir::info(ir::info(op.kind).effect);
  if (effect.sends() || effect.takes())
    return op.numIds;
  return effect.step == ir::OpStep::BlockSync || effect.step == ir::OpStep::Barrier || effect.step == ir::OpStep::Drain;
}

/// Returns the relative cost. Barriers make several blocks wait, signals use links, and a nop is the cheapest.
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

SyncPieces::SyncPieces(const ProgramIndex &index) : index_(index) {
  firstOp_.reserve(index.numBlocks());
  for (std::uint32_t b = 0; b < index.numBlocks(); ++b) {
    firstOp_.push_back(static_cast<std::uint32_t>(firstPiece_.size()));
    const auto &ops = index.ops(b).ops;
    for (std::uint32_t o = 0; o < ops.size(); ++o) {
      firstPiece_.push_back(count());
      for (std::uint32_t i = 0, n = piecesOf(ops[o]); i < n; ++i)
        places_.push_back({b, o, i});
    }
  }
  firstOp_.push_back(static_cast<std::uint32_t>(firstPiece_.size()));
  firstPiece_.push_back(count());
}

SyncOrbits::SyncOrbits(const ProgramIndex &index, const SyncPieces &pieces)
    : index_(index), pieces_(pieces), sets_(pieces.count()), kept_(pieces.count()) {
  joinEqualRanks();
  for (Piece p = 0; p < pieces.count(); ++p)
    if (ir::putsAndSignals(pieces.kind(p)))
      keep(p);
}

void SyncOrbits::joinEqualRanks() {
  ir::ShapeClasses classes;
  std::vector<std::uint32_t> firsts; // [class]: its first rank
  for (std::uint32_t r = 0; r < index_.numRanks(); ++r) {
    const std::uint32_t number = classes.of(ir::operationsOf(index_.program.ranks[r]));
    if (number == firsts.size()) {
      firsts.push_back(r);
      continue;
    }
    const Piece first = pieces_.firstOf(index_.block(r, 0)), last = pieces_.firstOf(index_.block(r + 1, 0));
    for (Piece p = first; p < last; ++p)
      sets_.join(p, pieces_.firstOf(index_.block(firsts[number], 0)) + (p - first));
  }
  alike_ = firsts.size() == 1 && index_.numRanks() > 1;
}

void SyncOrbits::join(Piece a, Piece b) {
  const bool kept = isKept(a) || isKept(b);
  sets_.join(a, b);
  kept_[find(a)] = kept;
}

std::vector<std::vector<Piece>> SyncOrbits::all() const {
  std::vector<std::vector<Piece>> orbits;
  std::vector<std::uint32_t> number(pieces_.count(), none);
  for (Piece p = 0; p < pieces_.count(); ++p) {
    const Piece orbit = find(p);
    if (number[orbit] == none) {
      number[orbit] = static_cast<std::uint32_t>(orbits.size());
      orbits.emplace_back();
    }
    orbits[number[orbit]].push_back(p);
  }
  return orbits;
}

std::vector<std::vector<Piece>> SyncOrbits::candidates() const {
  std::vector<std::vector<Piece>> orbits = all();
  std::erase_if(orbits, [&](const std::vector<Piece> &o) { return isKept(o[0]); });
  std::ranges::stable_sort(orbits, std::greater(),
                           [&](const std::vector<Piece> &o) { return costOf(pieces_.kind(o[0])); });
  return orbits;
}

} // namespace mscclc::passes::prune
