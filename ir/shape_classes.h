// Shapes: finds operations, thread blocks and ranks that are the same except for the things that they name.
//
// This is coarser than the symmetry of passes/analysis/rank_symmetry.h, which also checks that the named things are
// images of each other. Equal shapes are enough to write one text for several of them, with numbers filled in.
#pragma once

#include "ir/program.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace mscclc::ir {

/// A shape, as numbers. Two things have equal numbers if, and only if, they have the same shape.
using Shape = std::vector<std::uint64_t>;

/// Returns the shape of an operation: everything except the things that it names. Peers, places of chunks, channels,
/// semaphores, barriers, the operation's position in a thread-block group, and Op::firstAfter may differ.
Shape shapeOf(const Rank &rank, const ThreadBlock &block, const Op &op);
/// Returns the shape of all operations of a block, in their order.
Shape shapeOf(const Rank &rank, const ThreadBlock &block);
/// Returns the shape of the operations of all thread blocks, in their order. The sizes and buffers of chunks may
/// differ, too.
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
