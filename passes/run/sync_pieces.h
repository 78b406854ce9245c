// What of a program's sync can be dropped, in pieces, and which pieces go together.
#pragma once

#include "ir/program_index.h"

#include <span>
#include <vector>

namespace mscclc::passes::prune {

using ir::none;
using ir::ProgramIndex;

/// A piece of sync: a nop, a barrier's part in one block, a flush; or of what sends or waits, one id. Numbered over the
/// program, in its order.
using Piece = std::uint32_t;

class SyncPieces {
public:
  explicit SyncPieces(const ProgramIndex &index);

  std::uint32_t count() const { return static_cast<std::uint32_t>(places_.size()); }
  /// The piece of operation `op`, which has one, and of those that have one for each id, that of `id`.
  Piece of(std::uint32_t block, std::uint32_t op, std::uint32_t id = 0) const {
    return firstPiece_[firstOp_[block] + op] + id;
  }
  /// The first piece of `block` or of one after it; of what follows the last block, count().
  Piece firstOf(std::uint32_t block) const { return firstPiece_[firstOp_[block]]; }
  struct Location {
    std::uint32_t block = 0, op = 0, id = 0;
  };
  const Location &place(Piece piece) const { return places_[piece]; }
  ir::OpKind kind(Piece piece) const { return index_.ops(places_[piece].block).ops[places_[piece].op].kind; }

private:
  const ProgramIndex &index_;
  std::vector<std::uint32_t> firstOp_;    ///< [block], and one more: into firstPiece_
  std::vector<std::uint32_t> firstPiece_; ///< [operation], and one more
  std::vector<Location> places_;
};

/// Sets of pieces that are dropped together or not at all: what sends and what takes it; all parts of a barrier; and
/// what stands at the same place of ranks with the same operations (ir/shape_classes.h), so that they keep the same.
class SyncOrbits {
public:
  SyncOrbits(const ProgramIndex &index, const SyncPieces &pieces);

  void join(Piece a, Piece b);
  /// Not to be dropped, and so nothing that is joined with it.
  void keep(Piece piece) { kept_[find(piece)] = true; }

  /// True if all ranks have the same operations, and there are several.
  bool allAlike() const { return alike_; }

  /// The orbit of `piece`, as the number of one of its pieces.
  Piece find(Piece piece) const;
  bool isKept(Piece piece) const { return kept_[find(piece)]; }
  /// Pieces of each orbit that may be dropped: what costs most first, then in the order of the program.
  std::vector<std::vector<Piece>> candidates() const;
  /// Pieces of every orbit, in the order of the program.
  std::vector<std::vector<Piece>> all() const;

private:
  void joinEqualRanks();

  const ProgramIndex &index_;
  const SyncPieces &pieces_;
  mutable std::vector<Piece> parent_;
  std::vector<bool> kept_; ///< by orbit
  bool alike_ = false;
};

} // namespace mscclc::passes::prune
