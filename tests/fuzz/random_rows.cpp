#include "random_movement.h"

#include <algorithm>
#include <random>
#include <vector>

using namespace mscclc;

namespace fuzz {
namespace {

class RowGenerator {
public:
  explicit RowGenerator(std::uint64_t seed) : random_(seed) {}

  ir::Program make() {
    options();
    const auto ranks = static_cast<std::uint32_t>(program_.ranks.size());
    for (std::uint32_t dst = 0; dst < ranks; ++dst)
      for (std::uint32_t src = 0; src < ranks;) {
        const std::uint32_t slots = oneIn(3) ? 1 + below(ranks - src) : 1;
        slots == 1 && oneIn(2) ? direct(src, dst) : together(src, slots, dst);
        src += slots;
      }
    for (std::vector<Step> *steps : {&first_, &second_, &third_}) { // each in any order
      std::ranges::shuffle(*steps, random_);
      for (const Step &step : *steps)
        program_.movement.append({.kind = ir::MoveKind::Copy}, {&step.from, 1}, step.to);
    }
    return std::move(program_);
  }

private:
  struct Step {
    ir::RankChunk from;
    std::vector<ir::RankChunk> to;
  };

  std::uint32_t below(std::uint32_t limit) {
    return static_cast<std::uint32_t>(std::uniform_int_distribution<std::uint64_t>(0, limit - 1)(random_));
  }
  bool oneIn(std::uint32_t n) { return below(n) == 0; }
  std::uint32_t anyRank() { return below(static_cast<std::uint32_t>(program_.ranks.size())); }

  void options() {
    program_.name = "rows";
    program_.schedule = ir::Schedule::Auto;
    program_.collective = {.kind = ir::CollectiveKind::AllToAllV, .name = "alltoallv"};
    if (oneIn(2)) {
      program_.collective.kind = oneIn(2) ? ir::CollectiveKind::Dispatch : ir::CollectiveKind::Combine;
      program_.collective.name = toString(program_.collective.kind);
      program_.collective.experts = 1 + below(3);
      program_.collective.expertLayout = oneIn(2) ? ir::ExpertLayout::RankMajor : ir::ExpertLayout::ExpertMajor;
    } else
      program_.collective.rows = oneIn(2) ? ir::RowLayout::Packed : ir::RowLayout::Padded;
    ir::Movement &movement = program_.movement;
    std::uint32_t ranks = 1 + below(8);
    if (oneIn(2)) {
      movement.ranksPerNode = 1 + below(3);
      ranks = movement.ranksPerNode * (1 + below(3));
    }
    program_.ranks.resize(ranks);
    for (ir::Rank &rank : program_.ranks)
      rank.inputChunks = rank.outputChunks = ranks;
    program_.instances = oneIn(3) ? 2 + below(2) : 1;
    program_.doubleScratch = oneIn(4);
    movement.eager = oneIn(3);
    movement.blocks = 1 + below(oneIn(4) ? 8 : 3);
  }

  ir::RankChunk scratch(std::uint32_t rank, std::uint32_t size) {
    std::uint32_t &chunks = program_.ranks[rank].scratchChunks;
    chunks += size;
    return {rank, ir::BufferKind::Scratch, chunks - size, size};
  }

  void direct(std::uint32_t src, std::uint32_t dst) {
    Step step{{src, ir::BufferKind::Input, dst, 1}, {{dst, ir::BufferKind::Output, src, 1}}};
    if (oneIn(8)) // what nobody needs
      step.to.push_back(scratch(anyRank(), 1));
    first_.push_back(std::move(step));
  }

  /// The slots of `slots` senders, from `src` on, are gathered on some rank, which sends them on together. Some pass
  /// through another rank.
  void together(std::uint32_t src, std::uint32_t slots, std::uint32_t dst) {
    const ir::RankChunk all = scratch(anyRank(), slots);
    for (std::uint32_t i = 0; i < slots; ++i)
      first_.push_back({{src + i, ir::BufferKind::Input, dst, 1}, {{all.rank, all.buffer, all.index + i, 1}}});
    const ir::RankChunk end{dst, ir::BufferKind::Output, src, slots};
    if (oneIn(3)) {
      const ir::RankChunk further = scratch(anyRank(), slots);
      second_.push_back({all, {further}});
      third_.push_back({further, {end}});
    } else
      second_.push_back({all, {end}});
  }

  std::mt19937_64 random_;
  ir::Program program_;
  std::vector<Step> first_, second_, third_;
};

} // namespace

ir::Program randomRows(std::uint64_t seed) {
  return RowGenerator(seed).make();
}

} // namespace fuzz
