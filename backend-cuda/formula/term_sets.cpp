#include "backend-cuda/formula/term_sets.h"

#include <algorithm>

namespace mscclc::cuda {

namespace {

constexpr int maxDivisor = 64;

std::vector<int> divisorsOf(int n) {
  std::vector<int> result;
  for (int d = 2; d < n && d <= maxDivisor; ++d)
    if (n % d == 0)
      result.push_back(d);
  return result;
}

/// Whether an axis has reached the rank.
Reaches reaches(const Variation &v, Part counted) {
  return {counted, counted.axis == Axis::Item ? v.firstItem : 0};
}

bool isOf(const Term &term, Axis axis) {
  const Part *part = std::get_if<Part>(&term);
  return part != nullptr && part->axis == axis;
}
bool isReachedBy(const Term &term, Axis axis) {
  const Reaches *reach = std::get_if<Reaches>(&term);
  return reach != nullptr && reach->counted.axis == axis;
}

/// `terms` with the remainder and the quotient of `axis` in the place of it.
Terms split(Terms terms, Axis axis, int divisor) {
  std::erase_if(terms, [&](const Term &t) { return isOf(t, axis); });
  terms.push_back(Part{axis, divisor, false});
  terms.push_back(Part{axis, divisor, true});
  return terms;
}

/// A block or item split, whose parts may have reached the rank.
Terms splitCounter(const Variation &v, Axis axis, int divisor) {
  Terms terms = skippingTerms(v);
  std::erase_if(terms, [&](const Term &t) { return isReachedBy(t, axis); });
  terms = split(std::move(terms), axis, divisor);
  if (v.ranks)
    for (const bool quotient : {true, false})
      terms.push_back(reaches(v, {axis, divisor, quotient}));
  return terms;
}

/// The rank split, of which counters may have reached either part.
Terms splitRank(const Variation &v, int divisor) {
  Terms terms = split(plainTerms(v), Axis::Rank, divisor);
  for (const Axis axis : v.counters())
    for (const bool quotient : {false, true}) {
      Reaches reach = reaches(v, {axis});
      reach.rank = {Axis::Rank, divisor, quotient};
      terms.push_back(reach);
    }
  return terms;
}

} // namespace

Variation::Variation(const SampleSpace &space, int ranksOfProgram)
    : steps(space.steps > 1), items(space.items > 1), firstItem(space.firstItem) {
  int lastBlock = 0;
  for (const RankBlock &at : space.instances) {
    ranks |= at.rank != space.instances[0].rank;
    blocks |= at.block != space.instances[0].block;
    lastBlock = std::max(lastBlock, at.block);
  }
  if (blocks)
    blockDivisors = divisorsOf(lastBlock + 1);
  if (ranks)
    rankDivisors = divisorsOf(ranksOfProgram);
  if (items)
    itemDivisors = divisorsOf(space.items);
}

std::vector<Axis> Variation::counters() const {
  std::vector<Axis> axes;
  for (const auto &[varies, axis] : {std::pair{items, Axis::Item}, {steps, Axis::Step}, {blocks, Axis::Block}})
    if (varies)
      axes.push_back(axis);
  return axes;
}

Terms plainTerms(const Variation &v) {
  Terms terms{ConstantTerm{}};
  for (const auto &[varies, axis] :
       {std::pair{v.ranks, Axis::Rank}, {v.blocks, Axis::Block}, {v.steps, Axis::Step}, {v.items, Axis::Item}})
    if (varies)
      terms.push_back(Part{axis});
  return terms;
}

Terms skippingTerms(const Variation &v) {
  Terms terms = plainTerms(v);
  if (v.ranks)
    for (const Axis axis : v.counters())
      terms.push_back(reaches(v, {axis}));
  return terms;
}

std::vector<Terms> splitTerms(const Variation &v) {
  std::vector<Terms> all;
  for (const int d : v.blockDivisors)
    all.push_back(splitCounter(v, Axis::Block, d));
  for (const int d : v.itemDivisors)
    all.push_back(splitCounter(v, Axis::Item, d));
  for (const int d : v.rankDivisors)
    all.push_back(splitRank(v, d));
  return all;
}

std::vector<Terms> ringTerms(const Variation &v) {
  std::vector<Terms> all{plainTerms(v)};
  for (const int d : v.blockDivisors)
    all.push_back(split(plainTerms(v), Axis::Block, d));
  for (const int d : v.itemDivisors)
    all.push_back(split(plainTerms(v), Axis::Item, d));
  return all;
}

} // namespace mscclc::cuda
