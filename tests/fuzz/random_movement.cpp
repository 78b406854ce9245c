#include "random_movement.h"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <tuple>

using namespace mscclc;

namespace fuzz {
namespace {

/// What a chunk holds.
struct Value {
  std::set<ir::Contribution> inputs;
  std::string sum; ///< its tree, with brackets around what an operation has narrowed; empty for an input, or any order
};

class Generator {
public:
  Generator(std::uint64_t seed, bool ordered)
      : random_(seed), overNodes_(seed % 8 == 7 && !ordered), ordered_(ordered) {}

  ir::Program make() {
    options();
    buffers();
    const std::uint32_t count = 1 + below(below(4) == 0 ? 60 : 14);
    for (std::uint32_t i = 0; i < count; ++i)
      !overNodes_ &&below(3) == 0 ? reduce() : copy();
    gathers_ ? gather() : promise();
    return std::move(program_);
  }

private:
  /// A chunk by where it lies in memory: in place, output is input.
  using Cell = std::tuple<std::uint32_t, ir::BufferKind, std::uint32_t>;

  /// Chunks of outputs that are the input of a rank.
  struct RankShare {
    std::uint32_t begin, end;
  };
  RankShare shareOf(std::uint32_t rank) const {
    const std::uint32_t length = program_.collective.chunkFactor;
    return {rank * length, (rank + 1) * length};
  }

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
    gathers_ = oneIn(8);
    if (gathers_)
      program_.collective = {.kind = ir::CollectiveKind::AllGather, .name = "allgather", .inplace = true};
    ir::Movement &movement = program_.movement;
    const std::uint32_t most = oneIn(4) ? 16 : 5;
    std::uint32_t ranks = 2 + below(most - 1);
    if (oneIn(3)) {
      movement.ranksPerNode = 1 + below(oneIn(3) ? 8 : 3);
      ranks = movement.ranksPerNode * (1 + below(std::max(1u, most / movement.ranksPerNode)));
      ranks = std::max(ranks, 2u);
      ranks = (ranks + movement.ranksPerNode - 1) / movement.ranksPerNode * movement.ranksPerNode;
    }
    program_.ranks.resize(ranks);
    program_.protocol = oneIn(3) ? ir::Protocol::LL : ir::Protocol::Simple;
    program_.instances = oneIn(4) ? 2 + below(3) : 1;
    movement.order = oneIn(2) ? ir::Order::Any : ir::Order::Written;
    if (ordered_)
      movement.order = oneIn(2) ? ir::Order::Ranks : ir::Order::Tree;
    movement.pull = oneIn(2);
    movement.stages = oneIn(3);
    movement.eager = oneIn(3);
    movement.blocks = 1 + below(oneIn(4) ? 8 : 3);
    movement.throughSwitch = oneIn(3);
    isFree_ = oneIn(2);
    pinsAll_ = oneIn(8);
    mostOperands_ = oneIn(4) ? 12 : 4;
    op_ = static_cast<ir::ReduceOp>(below(ir::reduceOpCount));
    if (overNodes_)
      goOverNodes();
    if (program_.protocol == ir::Protocol::Simple && oneIn(5))
      movement.step = 64;
  }

  /// Copies of one chunk between two nodes or three, in packets where they can be, which leave all to the compiler.
  void goOverNodes() {
    program_.collective = {.kind = ir::CollectiveKind::Custom, .name = "random", .inplace = oneIn(2)};
    program_.protocol = ir::Protocol::LL;
    program_.movement.ranksPerNode = 2 + below(5);
    program_.ranks.resize(program_.movement.ranksPerNode * (oneIn(4) ? 3 : 2));
    gathers_ = isFree_ = pinsAll_ = false;
  }

  void buffers() {
    const std::uint32_t in = 1 + below(4), out = 1 + below(4), scratch = overNodes_ || oneIn(2) ? 1 + below(3) : 0;
    size_ = isFree_ ? 1 : oneIn(3) ? 2 : 1;
    const std::uint32_t length = isFree_ ? 1 + below(oneIn(4) ? 12 : 3) : size_;
    for (std::uint32_t r = 0; r < program_.ranks.size(); ++r) {
      ir::Rank &rank = program_.ranks[r];
      rank.inputChunks = in * length;
      rank.outputChunks = program_.collective.inplace ? in * length : out * length;
      rank.scratchChunks = scratch * length;
      if (gathers_) {
        program_.collective.chunkFactor = rank.inputChunks = length;
        rank.outputChunks = length * static_cast<std::uint32_t>(program_.ranks.size());
      }
      for (std::uint32_t c = 0; c < rank.inputChunks; ++c)
        values_[cellOf({r, ir::BufferKind::Input, c, 1}, 0)] = Value{{{r, c}}, ""};
    }
  }

  Cell cellOf(const ir::RankChunk &place, std::uint32_t at) const {
    if (gathers_ && place.buffer == ir::BufferKind::Input)
      return {place.rank, ir::BufferKind::Output, place.rank * program_.collective.chunkFactor + place.index + at};
    const bool aliased = !gathers_ && program_.collective.inplace && place.buffer == ir::BufferKind::Output;
    return {place.rank, aliased ? ir::BufferKind::Input : place.buffer, place.index + at};
  }
  bool same(const ir::RankChunk &a, const ir::RankChunk &b) const { return cellOf(a, 0) == cellOf(b, 0); }
  /// Whether two operands of one statement overlap and are not the same memory, which no statement may have.
  bool straddles(const ir::RankChunk &a, const ir::RankChunk &b) const {
    const auto [rankA, bufferA, firstA] = cellOf(a, 0);
    const auto [rankB, bufferB, firstB] = cellOf(b, 0);
    return rankA == rankB && bufferA == bufferB && firstA != firstB && firstA < firstB + b.size &&
           firstB < firstA + a.size;
  }
  bool straddlesAny(const ir::RankChunk &place, const std::vector<ir::RankChunk> &places) const {
    return std::ranges::any_of(places, [&](const ir::RankChunk &other) { return straddles(place, other); });
  }

  /// What an all-gather is to gather stays as it is.
  bool mayWrite(const ir::RankChunk &place) const {
    const RankShare own = shareOf(place.rank);
    const auto [rank, buffer, first] = cellOf(place, 0);
    return !gathers_ || buffer != ir::BufferKind::Output || first >= own.end || first + place.size <= own.begin;
  }
  bool mayWriteAll(const std::vector<ir::RankChunk> &places) const {
    return std::ranges::all_of(places, [&](const ir::RankChunk &place) { return mayWrite(place); });
  }

  /// Draws how long the places of a statement are.
  void drawSize() {
    if (isFree_)
      size_ = 1 + below(oneIn(2) ? 2 : program_.ranks[0].inputChunks);
  }
  /// A place that is as long as drawn, aligned to its length or not; nothing if the drawn buffer is too short.
  std::optional<ir::RankChunk> anyPlace() {
    ir::RankChunk place{below(static_cast<std::uint32_t>(program_.ranks.size())), ir::BufferKind::Input, 0, size_};
    const ir::Rank &rank = program_.ranks[place.rank];
    const std::uint32_t what = below(4);
    place.buffer = what == 0                             ? ir::BufferKind::Input
                   : what == 1 && rank.scratchChunks > 0 ? ir::BufferKind::Scratch
                                                         : ir::BufferKind::Output;
    const std::uint32_t chunks = rank.chunksOf(place.buffer);
    if (chunks < size_)
      return std::nullopt;
    place.index = isFree_ ? below(chunks - size_ + 1) : below(chunks / size_) * size_;
    return place;
  }
  /// What chunk `at` of the place holds; null if nothing was written there.
  const Value *valueOf(const ir::RankChunk &place, std::uint32_t at) const {
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
  /// Some place that holds something, is none of `others` and straddles none; nothing after some tries.
  std::optional<ir::RankChunk> writtenPlace(const std::vector<ir::RankChunk> &others) {
    for (int tries = 0; tries < 20; ++tries)
      if (const auto place = anyPlace();
          place && isWritten(*place) && !isAnyOf(*place, others) && !straddlesAny(*place, others))
        return place;
    return std::nullopt;
  }

  /// Draws what the statement decides itself. `places`: all of it.
  void pin(ir::Move &statement, const std::vector<ir::RankChunk> &places) {
    if (overNodes_)
      return;
    const auto isElsewhere = [&](const ir::RankChunk &place) { return place.rank != places[0].rank; };
    const bool crosses = std::ranges::any_of(places, isElsewhere);
    if (pinsAll_ && !oneIn(8))
      statement.by = statement.kind == ir::MoveKind::Reduce ? places.back().rank : places[0].rank;
    else if (oneIn(6))
      statement.by = places[below(static_cast<std::uint32_t>(places.size()))].rank;
    if (oneIn(8))
      statement.packets = oneIn(2) && program_.movement.step == 0; // no pipeline takes packets
    if (oneIn(10))
      statement.block = below(4);
    const auto isNear = [&](const ir::RankChunk &place) {
      return program_.movement.sameNode(place.rank, places[0].rank);
    };
    if (oneIn(pinsAll_ ? 40 : 10))
      statement.via = ir::Via::Port;
    else if (((pinsAll_ && crosses) || oneIn(pinsAll_ ? 80 : 10)) && std::ranges::all_of(places, isNear))
      statement.via = ir::Via::Memory;
  }

  /// The same chunks of the same buffer as `own` on two ranks of its node or more, its own among them.
  std::vector<ir::RankChunk> spread(const ir::RankChunk &own) {
    std::vector<ir::RankChunk> group;
    const bool all = oneIn(2);
    for (std::uint32_t r = 0; r < program_.ranks.size(); ++r)
      if (program_.movement.sameNode(r, own.rank) && (r == own.rank || all || oneIn(2)))
        group.push_back({r, own.buffer, own.index, own.size});
    return group;
  }

  void write(const ir::RankChunk &dst, const std::vector<Value> &values) {
    for (std::uint32_t at = 0; at < size_; ++at)
      values_[cellOf(dst, at)] = values[at];
  }
  std::vector<Value> valuesOf(const ir::RankChunk &place) const {
    std::vector<Value> values;
    for (std::uint32_t at = 0; at < size_; ++at)
      values.push_back(*valueOf(place, at));
    return values;
  }

  void copy() {
    drawSize();
    const auto src = writtenPlace({});
    if (!src)
      return;
    if (oneIn(6))
      return multicast(*src);
    std::vector<ir::RankChunk> dsts;
    for (std::uint32_t n = oneIn(4) ? 1 + below(3) : 1; n != 0; --n)
      if (const auto dst = anyPlace(); dst && mayWrite(*dst) && !same(*dst, *src) && !straddles(*dst, *src) &&
                                       !isAnyOf(*dst, dsts) && !straddlesAny(*dst, dsts))
        dsts.push_back(*dst);
    if (dsts.empty())
      return;
    for (const std::vector<Value> values = valuesOf(*src); const ir::RankChunk &dst : dsts)
      write(dst, values);
    appendCopy(*src, dsts);
    if (overNodes_)
      std::ranges::for_each(dsts, [this](const ir::RankChunk &dst) { readKept(dst); });
  }
  /// Copies what was copied to scratch to an output of its rank, mostly: where any is not read, nothing is packets.
  void readKept(const ir::RankChunk &place) {
    const std::uint32_t outputs = program_.ranks[place.rank].outputChunks;
    if (place.buffer != ir::BufferKind::Scratch || outputs < size_)
      return;
    const ir::RankChunk dst{place.rank, ir::BufferKind::Output, below(outputs / size_) * size_, size_};
    write(dst, valuesOf(place));
    appendCopy(place, {&dst, 1});
  }
  /// Appends a copy, which its source's rank executes, or another that can read the source.
  void appendCopy(const ir::RankChunk &src, std::span<const ir::RankChunk> dsts) {
    ir::Move statement{.kind = ir::MoveKind::Copy};
    std::vector<ir::RankChunk> places{src};
    places.insert(places.end(), dsts.begin(), dsts.end());
    pin(statement, places);
    const bool isRead = statement.by && *statement.by != src.rank && statement.via != ir::Via::Port &&
                        statement.packets != true && program_.movement.sameNode(src.rank, *statement.by);
    if (statement.by != src.rank && !isRead)
      statement.by.reset();
    program_.movement.append(statement, {&src, 1}, dsts);
  }
  /// A copy that the switch does.
  void multicast(const ir::RankChunk &src) {
    auto own = anyPlace();
    if (!own)
      return;
    own->rank = src.rank;
    const std::vector<ir::RankChunk> dsts = spread(*own);
    if (dsts.size() < 2 || straddlesAny(src, dsts) || !mayWriteAll(dsts))
      return;
    for (const std::vector<Value> values = valuesOf(src); const ir::RankChunk &dst : dsts)
      write(dst, values);
    program_.movement.append({.kind = ir::MoveKind::Copy, .via = ir::Via::Switch}, {&src, 1}, dsts);
  }

  void reduce() {
    drawSize();
    const auto into = writtenPlace({});
    if (!into)
      return;
    if (oneIn(6))
      return reduceInSwitch(*into);
    std::vector<ir::RankChunk> srcs{*into};
    std::vector<Value> sums = valuesOf(*into);
    for (std::uint32_t n = 1 + below(mostOperands_); n != 0; --n)
      if (const auto other = writtenPlace(srcs); other && adds(*other, sums))
        srcs.push_back(*other);
    const auto dst = gathers_ || oneIn(3) ? anyPlace() : into;
    if (srcs.size() == 1 || !dst || straddlesAny(*dst, srcs) || !mayWrite(*dst))
      return;
    if (!inOrder(srcs, sums))
      return;
    write(*dst, sums);
    ir::Move statement{.kind = ir::MoveKind::Reduce, .reduceOp = op_};
    std::vector<ir::RankChunk> places = srcs;
    places.push_back(*dst);
    pin(statement, places);
    program_.movement.append(statement, srcs, {&*dst, 1});
  }
  /// Sets the trees of a reduction. Returns false if its operands do not allow the order that the program asks for.
  bool inOrder(const std::vector<ir::RankChunk> &srcs, std::vector<Value> &sums) const {
    if (!ordered_ || ir::isReorderable(op_))
      return true;
    for (std::uint32_t at = 0; at < size_; ++at) {
      std::vector<const Value *> operands;
      for (const ir::RankChunk &src : srcs)
        operands.push_back(valueOf(src, at));
      std::ranges::sort(operands, {}, [](const Value *value) { return *value->inputs.begin(); });
      for (std::size_t i = 1; i < operands.size(); ++i)
        if (*operands[i]->inputs.begin() <= *operands[i - 1]->inputs.rbegin())
          return false;
      const auto tree = program_.movement.order == ir::Order::Ranks ? chainOf(operands) : treeOf(operands);
      if (!tree)
        return false;
      sums[at].sum = *tree;
    }
    return true;
  }
  static std::string textOf(const Value &value) {
    const ir::Contribution &first = *value.inputs.begin();
    return value.sum.empty() ? std::to_string(first.rank) + "." + std::to_string(first.chunk) : "[" + value.sum + "]";
  }
  /// Returns the chain of operands, of which none but the first may be a sum.
  static std::optional<std::string> chainOf(std::span<const Value *const> operands) {
    std::string chain = textOf(*operands[0]);
    for (const Value *operand : operands.subspan(1)) {
      if (operand->inputs.size() != 1)
        return std::nullopt;
      chain += "+" + textOf(*operand);
    }
    return chain;
  }
  /// Returns the tree of operands: that of the first half, and then that of the second half as one operand.
  static std::optional<std::string> treeOf(std::span<const Value *const> operands) {
    if (operands.size() == 1)
      return textOf(*operands[0]);
    std::size_t all = 0, first = 0, count = 0;
    for (const Value *operand : operands)
      all += operand->inputs.size();
    while (first < std::bit_floor(all - 1))
      first += operands[count++]->inputs.size();
    if (first != std::bit_floor(all - 1))
      return std::nullopt;
    const auto left = treeOf(operands.first(count)), right = treeOf(operands.subspan(count));
    if (!left || !right)
      return std::nullopt;
    return *left + "+" + (count + 1 == operands.size() ? *right : "[" + *right + "]");
  }
  /// A reduction that the switch does: no product, and of three operands or more one that takes any order.
  void reduceInSwitch(const ir::RankChunk &own) {
    const std::vector<ir::RankChunk> srcs = spread(own);
    const bool isPair = srcs.size() == 2 && !ordered_;
    const bool anyOrder = program_.movement.order == ir::Order::Any || ir::isIdempotent(op_) || isPair;
    if (srcs.size() < 2 || !anyOrder || op_ == ir::ReduceOp::Prod ||
        !std::ranges::all_of(srcs, [&](const auto &src) { return isWritten(src); }))
      return;
    std::vector<Value> sums(size_);
    for (const ir::RankChunk &src : srcs)
      if (!adds(src, sums))
        return;
    auto dst = anyPlace();
    if (!dst)
      return;
    dst->rank = own.rank;
    if (straddlesAny(*dst, srcs) || !mayWrite(*dst))
      return;
    write(*dst, sums);
    program_.movement.append({.kind = ir::MoveKind::Reduce, .reduceOp = op_, .via = ir::Via::Switch}, srcs, {&*dst, 1});
  }
  /// Adds what the place holds to the sums; false, and nothing is added, where an input would be in one of them twice
  /// that may not be.
  bool adds(const ir::RankChunk &place, std::vector<Value> &sums) {
    if (!isApart(place, sums) && !(ir::isIdempotent(op_) && oneIn(2)))
      return false;
    for (std::uint32_t at = 0; at < size_; ++at)
      sums[at].inputs.insert(valueOf(place, at)->inputs.begin(), valueOf(place, at)->inputs.end());
    return true;
  }
  /// Whether the place holds none of the inputs that are in the sums.
  bool isApart(const ir::RankChunk &place, const std::vector<Value> &sums) const {
    for (std::uint32_t at = 0; at < size_; ++at)
      for (const ir::Contribution &input : valueOf(place, at)->inputs)
        if (sums[at].inputs.contains(input))
          return false;
    return true;
  }

  /// Ends as an all-gather does, whatever was there before.
  void gather() {
    size_ = program_.collective.chunkFactor;
    for (std::uint32_t r = 0; r < program_.ranks.size(); ++r) {
      const std::uint32_t begin = shareOf(r).begin;
      const ir::RankChunk src = oneIn(2) ? ir::RankChunk{r, ir::BufferKind::Input, 0, size_}
                                         : ir::RankChunk{r, ir::BufferKind::Output, begin, size_};
      std::vector<ir::RankChunk> dsts;
      for (std::uint32_t to = 0; to < program_.ranks.size(); ++to)
        if (to != r)
          dsts.push_back({to, ir::BufferKind::Output, begin, size_});
      if (oneIn(2))
        appendCopy(src, dsts);
      else
        for (const ir::RankChunk &dst : dsts)
          appendCopy(src, {&dst, 1});
    }
  }

  /// Whether no other tree of the same inputs was promised before. Partial sums of several operations may be narrowed
  /// at other places.
  bool isFirstTree(const Value &value) { return trees_.emplace(value.inputs, value.sum).first->second == value.sum; }

  void promise() {
    for (std::uint32_t r = 0; r < program_.ranks.size(); ++r)
      for (std::uint32_t c = 0; c < program_.ranks[r].outputChunks; ++c)
        if (const Value *value = valueOf({r, ir::BufferKind::Output, c, 1}, 0); value && isFirstTree(*value))
          program_.collective.expectations.push_back({r, c, {value->inputs.begin(), value->inputs.end()}, ir::noLoc});
  }

  std::mt19937_64 random_;
  const bool overNodes_; ///< see goOverNodes()
  const bool ordered_;   ///< every sum is taken in one order
  ir::Program program_;
  ir::ReduceOp op_ = ir::ReduceOp::Sum;
  bool gathers_ = false; ///< an all-gather in place, whose inputs are shares of its outputs
  bool isFree_ = false;  ///< places have any length and begin anywhere; else all are as long, and multiples of it
  bool pinsAll_ = false; ///< statements say who executes them, and through memory, where they can
  std::uint32_t mostOperands_ = 4; ///< of reductions, besides the first
  std::uint32_t size_ = 1;         ///< chunks of the places of the statement at hand
  std::map<Cell, Value> values_;
  std::map<std::set<ir::Contribution>, std::string> trees_; ///< of promised sums
};

} // namespace

ir::Program randomMovement(std::uint64_t seed, bool ordered) {
  return Generator(seed, ordered).make();
}

} // namespace fuzz
