// What is the same but for what it names: operations, thread blocks, ranks.
//
// This is coarser than the symmetry of passes/analysis/rank_symmetry.h: nobody asks whether what ranks name are images
// of each other. It is enough to write one text for several of them, with numbers filled in.
#pragma once

#include "ir/program.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace mscclc::ir {

/// Words that are equal for what has the same shape, and only for that.
using Shape = std::vector<std::uint64_t>;

/// Of an operation, all but its names: peers, places of chunks, channels, semaphores, barriers and its place in a
/// thread-block group may differ.
Shape shapeOf(const Rank &rank, const ThreadBlock &block, const Op &op);
/// Of all operations, in their order.
Shape shapeOf(const Rank &rank, const ThreadBlock &block);
/// Of the operations of all thread blocks, in their order. Their chunks may be of any size and buffer, too.
Shape operationsOf(const Rank &rank);

/// Numbers shapes in the order in which they first come.
class ShapeClasses {
public:
  /// The number of `shape`.
  std::uint32_t of(Shape shape) { return known_.try_emplace(std::move(shape), size()).first->second; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(known_.size()); }

private:
  std::map<Shape, std::uint32_t> known_;
};

} // namespace mscclc::ir
