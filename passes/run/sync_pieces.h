// The pieces of a program's sync that can be dropped, and the pieces that must be dropped together.
#pragma once

#include "ir/containers.h"
#include "ir/program_index.h"

#include <span>
#include <vector>

namespace mscclc::passes::prune {

using ir::none;
using ir::ProgramIndex;

/// A piece of sync: a nop, the part of a barrier in one block, a flush, or one id of an operation that sends or waits.
/// Pieces are numbered in the order of the program.
using Piece = std::uint32_t;

/// The pieces of a program.
class SyncPieces {
public:
  explicit SyncPieces(const ProgramIndex &index);

  std::uint32_t count() const { return static_cast<std::uint32_t>(places_.size()); }
  /// Returns the piece of operation `op`, which must have one. If it has one for each id, returns that of `id`.
  Piece of(std::uint32_t block, std::uint32_t op, std::uint32_t id = 0) const {
    return firstPiece_[firstOp_[block] + op] + id;
  }
  /// Returns the first piece of `block` or of a later block. After the last block, returns count().
  Piece firstOf(std::uint32_t block) const { return firstPiece_[firstOp_[block]]; }
  struct Location {
    std::uint32_t block = 0, op = 0, id = 0;
  };
  const Location &place(Piece piece) const { return places_[piece]; }
  ir::OpKind kind(Piece piece) const { return index_.ops(places_[piece].block).ops[places_[piece].op].kind; }

private:
  const ProgramIndex &index_;
  std::vector<std::uint32_t> firstOp_;    ///< [block], and one more: index into firstPiece_
  std::vector<std::uint32_t> firstPiece_; ///< [operation], and one more
  std::vector<Location> places_;
};

/// Sets of pieces that are dropped together or not at all: senders with their receivers, all parts of a barrier, and
/// pieces at the same place of ranks with the same operations (ir/shape_classes.h), so that these ranks keep the same
/// sync.
class SyncOrbits {
public:
  SyncOrbits(const ProgramIndex &index, const SyncPieces &pieces);

  void join(Piece a, Piece b);
  /// Marks the orbit of `piece` as one that must not be dropped.
  void keep(Piece piece) { kept_[find(piece)] = true; }

  /// True if all ranks have the same operations, and there are several ranks.
  bool allAlike() const { return alike_; }

  /// Returns the orbit of `piece`, as the number of one of its pieces.
  Piece find(Piece piece) const { return sets_.find(piece); }
  bool isKept(Piece piece) const { return kept_[find(piece)]; }
  /// Returns the pieces of each orbit that may be dropped: the most expensive ones first, then in the order of the
  /// program.
  std::vector<std::vector<Piece>> candidates() const;
  /// Returns the pieces of every orbit, in the order of the program.
  std::vector<std::vector<Piece>> all() const;

private:
  void joinEqualRanks();

  const ProgramIndex &index_;
  const SyncPieces &pieces_;
  ir::DisjointSets<Piece> sets_;
  std::vector<bool> kept_; ///< by orbit
  bool alike_ = false;
};

} // namespace mscclc::passes::prune
