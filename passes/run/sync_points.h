// The sync points of a program, and the classes of points that must be dropped together.
#pragma once

#include "ir/containers.h"
#include "ir/program_index.h"

#include <span>
#include <vector>

namespace mscclc::passes::prune {

using ir::none;
using ir::ProgramIndex;

/// A sync point: a nop, the part of a barrier in one block, a flush, or one id of an operation that sends or waits.
/// Sync points are numbered in the order of the program.
using SyncPoint = std::uint32_t;

/// The sync points of a program.
class SyncPoints {
public:
  explicit SyncPoints(const ProgramIndex &index);

  std::uint32_t count() const { return static_cast<std::uint32_t>(places_.size()); }
  /// Returns the point of operation `op`, which must have one. If it has one for each id, returns that of `id`.
  SyncPoint of(std::uint32_t block, std::uint32_t op, std::uint32_t id = 0) const {
    return firstPoint_[firstOp_[block] + op] + id;
  }
  /// Returns the first point of `block` or of a later block. After the last block, returns count().
  SyncPoint firstOf(std::uint32_t block) const { return firstPoint_[firstOp_[block]]; }
  struct Location {
    std::uint32_t block = 0, op = 0, id = 0;
  };
  const Location &place(SyncPoint point) const { return places_[point]; }
  ir::OpKind kind(SyncPoint point) const { return index_.ops(places_[point].block).ops[places_[point].op].kind; }

private:
  const ProgramIndex &index_;
  std::vector<std::uint32_t> firstOp_;    ///< [block], and one more: index into firstPoint_
  std::vector<std::uint32_t> firstPoint_; ///< [operation], and one more: its first point
  std::vector<Location> places_;
};

/// Sets of points that are dropped together or not at all: senders with their receivers, all parts of a barrier, and
/// points at the same place of ranks with the same operations (ir/shape_classes.h), so that these ranks keep the same
/// sync.
class SyncClasses {
public:
  SyncClasses(const ProgramIndex &index, const SyncPoints &points);

  void join(SyncPoint a, SyncPoint b);
  /// Marks the class of `point` as one that must not be dropped.
  void keep(SyncPoint point) { kept_[find(point)] = true; }

  /// True if all ranks have the same operations, and there are several ranks.
  bool allAlike() const { return alike_; }

  /// Returns the class of `point`, as the number of one of its points.
  SyncPoint find(SyncPoint point) const { return sets_.find(point); }
  bool isKept(SyncPoint point) const { return kept_[find(point)]; }
  /// Returns the points of each class that may be dropped: the most expensive ones first, then in the order of the
  /// program.
  std::vector<std::vector<SyncPoint>> candidates() const;
  /// Returns the points of every class, in the order of the program.
  std::vector<std::vector<SyncPoint>> all() const;

private:
  void joinEqualRanks();

  const ProgramIndex &index_;
  const SyncPoints &points_;
  ir::DisjointSets<SyncPoint> sets_;
  std::vector<bool> kept_; ///< by class
  bool alike_ = false;
};

} // namespace mscclc::passes::prune
