// A number of the program that differs between ranks, blocks, repetitions and items, as its values at all of them.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>

namespace mscclc::cuda {

/// Where a number is taken: block `block` of rank `rank`, repetition `step` of a rolled sequence, item `item` of a
/// list.
struct Sample {
  int rank = 0;
  int block = 0;
  int step = 0;
  int item = 0;
};

/// What a number may vary with.
enum class Axis : std::uint8_t { Rank, Block, Step, Item };
inline constexpr Axis allAxes[] = {Axis::Rank, Axis::Block, Axis::Step, Axis::Item};

constexpr int coordinate(const Sample &s, Axis axis) {
  switch (axis) {
  case Axis::Rank:
    return s.rank;
  case Axis::Block:
    return s.block;
  case Axis::Step:
    return s.step;
  case Axis::Item:
    return s.item;
  }
  return 0;
}

/// A block of a rank.
struct RankBlock {
  int rank;
  int block;
  friend bool operator==(const RankBlock &, const RankBlock &) = default;
};

/// All samples of a number: every instance × steps × items.
struct SampleSpace {
  std::span<const RankBlock> instances;
  int steps = 1;
  int firstItem = 0;
  int items = 1;
};

/// A value that may be anything, because nobody asks for it.
inline constexpr std::int64_t anyValue = std::numeric_limits<std::int64_t>::min();

using ValueOf = std::function<std::int64_t(const Sample &)>;

/// Calls f(sample) for every sample until it returns false; true if it never did.
template <class F> bool forAll(const SampleSpace &space, F f) {
  for (const RankBlock &at : space.instances)
    for (int step = 0; step < space.steps; ++step)
      for (int item = 0; item < space.items; ++item)
        if (!f(Sample{at.rank, at.block, step, space.firstItem + item}))
          return false;
  return true;
}

} // namespace mscclc::cuda
