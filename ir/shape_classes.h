// Shapes: finds operations, thread blocks and ranks that are the same except for the things that they name.
//
// Shapes are coarser than the symmetry of passes/analysis/rank_symmetry.h, which also compares the named things.
// Several operations, blocks or ranks with equal shapes can share one text, with numbers filled in.
#pragma once

#include "ir/program.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace mscclc::ir {

/// A shape, as numbers. Two things have equal numbers if, and only if, they have the same shape.
using Shape = std::vector<std::uint64_t>;

/// Returns the shape of an operation: everything except the things that it names. So operations of one shape may differ
/// in peers, places of chunks, channels, semaphores, barriers, their position in a thread-block group, and
/// Op::firstAfter.
Shape shapeOf(const Rank &rank, const ThreadBlock &block, const Op &op);
/// Returns the shape of all operations of a block, in their order.
Shape shapeOf(const Rank &rank, const ThreadBlock &block);
/// Returns the shape of the operations of all thread blocks of a rank, in their order. Here the sizes and buffers of
/// chunks may differ, too.
Shape operationsOf(const Rank &rank);

/// Numbers shapes in the order of their first appearance.
class ShapeClasses {
public:
  /// Returns the number of `shape`.
  std::uint32_t of(Shape shape) { return known_.try_emplace(std::move(shape), size()).first->second; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(known_.size()); }

private:
  std::map<Shape, std::uint32_t> known_;
};

} // namespace mscclc::ir
