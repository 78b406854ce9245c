#include "random_movement.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <tuple>

using namespace mscclc;

namespace fuzz {
namespace {

using Inputs = std::set<ir::Contribution>;

class Generator {
public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  ir::Program make() {
    options();
    buffers();
    const std::uint32_t count = 1 + below(below(4) == 0 ? 60 : 14);
    for (std::uint32_t i = 0; i < count; ++i)
      below(3) == 0 ? reduce() : copy();
    promise();
    return std::move(program_);
  }

private:
  /// A chunk by where it lies in memory: in place, output is input.
  using Cell = std::tuple<std::uint32_t, ir::BufferKind, std::uint32_t>;

  std::uint32_t below(std::uint32_t limit) {
    return static_cast<std::uint32_t>(std::uniform_int_distribution<std::uint64_t>(0, limit - 1)(random_));
  }
  bool oneIn(std::uint32_t n) { return below(n) == 0; }

  void options() {
    program_.name = "random";
    program_.schedule = ir::Schedule::Auto;
    program_.collective.kind = ir::CollectiveKind::Custom;
    program_.collective.name = "random";
    program_.collective.inplace = oneIn(2);
    ir::Movement &movement = program_.movement;
    const std::uint32_t most = oneIn(4) ? 16 : 5;
    std::uint32_t ranks = 2 + below(most - 1);
    if (oneIn(3)) {
      movement.ranksPerNode = 1 + below(3);
      ranks = movement.ranksPerNode * (1 + below(std::max(1u, most / movement.ranksPerNode)));
      ranks = std::max(ranks, 2u);
      ranks = (ranks + movement.ranksPerNode - 1) / movement.ranksPerNode * movement.ranksPerNode;
    }
    program_.ranks.resize(ranks);
    program_.protocol = oneIn(3) ? ir::Protocol::LL : ir::Protocol::Simple;
    program_.instances = oneIn(4) ? 2 : 1;
    movement.reassociate = oneIn(2);
    movement.pull = oneIn(2);
    movement.stages = oneIn(3);
    movement.eager = oneIn(3);
    movement.blocks = 1 + below(3);
    movement.throughSwitch = oneIn(3);
    op_ = static_cast<ir::ReduceOp>(below(ir::reduceOpCount));
    if (program_.protocol == ir::Protocol::Simple && oneIn(5))
      movement.step = 64;
  }

  void buffers() {
    const std::uint32_t in = 1 + below(4), out = 1 + below(4), scratch = oneIn(2) ? 1 + below(3) : 0;
    size_ = oneIn(3) ? 2 : 1;
    for (std::uint32_t r = 0; r < program_.ranks.size(); ++r) {
      ir::Rank &rank = program_.ranks[r];
      rank.inputChunks = in * size_;
      rank.outputChunks = program_.collective.inplace ? in * size_ : out * size_;
      rank.scratchChunks = scratch * size_;
      for (std::uint32_t c = 0; c < rank.inputChunks; ++c)
        values_[{r, ir::BufferKind::Input, c}] = Inputs{{r, c}};
    }
  }

  Cell cellOf(const ir::RankChunk &place, std::uint32_t at) const {
    const bool aliased = program_.collective.inplace && place.buffer == ir::BufferKind::Output;
    return {place.rank, aliased ? ir::BufferKind::Input : place.buffer, place.index + at};
  }
  bool same(const ir::RankChunk &a, const ir::RankChunk &b) const { return cellOf(a, 0) == cellOf(b, 0); }

  ir::RankChunk anyPlace() {
    ir::RankChunk place{below(static_cast<std::uint32_t>(program_.ranks.size())), ir::BufferKind::Input, 0, size_};
    const ir::Rank &rank = program_.ranks[place.rank];
    const std::uint32_t what = below(4);
    place.buffer = what == 0                             ? ir::BufferKind::Input
                   : what == 1 && rank.scratchChunks > 0 ? ir::BufferKind::Scratch
                                                         : ir::BufferKind::Output;
    place.index = below(rank.chunksOf(place.buffer) / size_) * size_;
    return place;
  }
  /// What chunk `at` of the place holds; null if nothing was written there.
  const Inputs *valueOf(const ir::RankChunk &place, std::uint32_t at) const {
    const auto found = values_.find(cellOf(place, at));
    return found == values_.end() ? nullptr : &found->second;
  }
  bool isWritten(const ir::RankChunk &place) const {
    for (std::uint32_t at = 0; at < size_; ++at)
      if (!valueOf(place, at))
        return false;
    return true;
  }
  bool isAnyOf(const ir::RankChunk &place, const std::vector<ir::RankChunk> &places) const {
    return std::ranges::any_of(places, [&](const ir::RankChunk &other) { return same(place, other); });
  }
  /// Some place that holds something and is none of `others`; nothing after some tries.
  std::optional<ir::RankChunk> writtenPlace(const std::vector<ir::RankChunk> &others) {
    for (int tries = 0; tries < 20; ++tries)
      if (const ir::RankChunk place = anyPlace(); isWritten(place) && !isAnyOf(place, others))
        return place;
    return std::nullopt;
  }

  void pin(ir::Move &statement, const std::vector<ir::RankChunk> &places) {
    if (oneIn(6))
      statement.by = places[below(static_cast<std::uint32_t>(places.size()))].rank;
    if (oneIn(8))
      statement.packets = oneIn(2) && program_.protocol == ir::Protocol::LL;
    if (oneIn(10))
      statement.via = ir::Via::Port;
  }

  void copy() {
    const auto src = writtenPlace({});
    if (!src)
      return;
    std::vector<ir::RankChunk> dsts;
    for (std::uint32_t n = oneIn(4) ? 1 + below(3) : 1; n != 0; --n)
      if (const ir::RankChunk dst = anyPlace(); !same(dst, *src) && !isAnyOf(dst, dsts))
        dsts.push_back(dst);
    if (dsts.empty())
      return;
    for (std::uint32_t at = 0; at < size_; ++at)
      for (const ir::RankChunk &dst : dsts)
        values_[cellOf(dst, at)] = *valueOf(*src, at);
    ir::Move statement{.kind = ir::MoveKind::Copy};
    std::vector<ir::RankChunk> ends{*src, dsts[0]};
    pin(statement, ends);
    if (statement.by && dsts.size() > 1)
      statement.by.reset();
    program_.movement.append(statement, {&*src, 1}, dsts);
  }

  void reduce() {
    std::vector<ir::RankChunk> srcs;
    const auto into = writtenPlace({});
    if (!into)
      return;
    srcs.push_back(*into);
    std::vector<Inputs> sums;
    for (std::uint32_t at = 0; at < size_; ++at)
      sums.push_back(*valueOf(*into, at));
    for (std::uint32_t n = 1 + below(4); n != 0; --n)
      if (const auto other = writtenPlace(srcs); other && isApart(*other, sums)) {
        for (std::uint32_t at = 0; at < size_; ++at)
          sums[at].insert(valueOf(*other, at)->begin(), valueOf(*other, at)->end());
        srcs.push_back(*other);
      }
    if (srcs.size() == 1)
      return;
    const ir::RankChunk dst = oneIn(3) ? anyPlace() : *into;
    for (std::uint32_t at = 0; at < size_; ++at)
      values_[cellOf(dst, at)] = sums[at];
    ir::Move statement{.kind = ir::MoveKind::Reduce, .reduceOp = op_};
    pin(statement, {dst});
    program_.movement.append(statement, srcs, {&dst, 1});
  }
  /// Whether the place holds none of the inputs that are in the sums.
  bool isApart(const ir::RankChunk &place, const std::vector<Inputs> &sums) const {
    for (std::uint32_t at = 0; at < size_; ++at)
      for (const ir::Contribution &input : *valueOf(place, at))
        if (sums[at].contains(input))
          return false;
    return true;
  }

  void promise() {
    for (std::uint32_t r = 0; r < program_.ranks.size(); ++r)
      for (std::uint32_t c = 0; c < program_.ranks[r].outputChunks; ++c)
        if (const Inputs *value = valueOf({r, ir::BufferKind::Output, c, 1}, 0))
          program_.collective.expectations.push_back({r, c, {value->begin(), value->end()}, ir::noLoc});
  }

  std::mt19937_64 random_;
  ir::Program program_;
  ir::ReduceOp op_ = ir::ReduceOp::Sum;
  std::uint32_t size_ = 1; ///< chunks of every place
  std::map<Cell, Inputs> values_;
};

} // namespace

ir::Program randomMovement(std::uint64_t seed) {
  return Generator(seed).make();
}

} // namespace fuzz
