// Movement statements: what moves, on chunks of any ranks. They make up the programs of Schedule::Auto.
//
// Such a program means what its statements do when they are executed one by one, in the order written, on the memory of
// all ranks at once. Who executes each, through what, in which thread block and with which synchronisation is the
// compiler's to choose, as far as MoveOptions leaves it open. Python has no counterpart.
#ifndef MSCCLC_MOVES_HPP
#define MSCCLC_MOVES_HPP

#include "rank.hpp"

namespace mscclc {

/// Through what a movement statement reaches memory of other ranks.
enum class Via : std::uint8_t {
  Auto,   ///< as the compiler chooses
  Memory, ///< mapped memory, of ranks of one node
  Port,   ///< port channels
  Switch, ///< the switch, which joins ranks of one node: one value to all, or a reduction on the way
};

namespace detail {
/// A thread block, or none.
struct AnyBlock {
  constexpr AnyBlock(Automatic) {}
  constexpr AnyBlock(ThreadBlock given) : block(given), isGiven(true) {}

  ThreadBlock block;
  bool isGiven = false;
};

/// Yes, no, or neither.
struct AnyFlag {
  constexpr AnyFlag(Automatic) {}
  constexpr AnyFlag(bool given) : flag(given), isGiven(true) {}

  bool flag = false;
  bool isGiven = false;
};
} // namespace detail

/// What a movement statement decides itself: `{.via = Via::Port, .by = 3}`. The compiler chooses the rest.
struct MoveOptions {
  /// Through what it reaches other ranks.
  Via via = Via::Auto;
  /// The rank that executes it: one that holds a source or a destination. A copy that goes through a port, through
  /// the switch or in packets is executed by the rank that has its source.
  detail::AnyInteger by = automatic;
  /// The thread block that executes it, in each instance: tb(i). Numbers that no rank has are left out of the plan.
  detail::AnyBlock on = automatic;
  /// Whether data of other ranks travels in packets; what goes through the switch does not.
  detail::AnyFlag packets = automatic;
  /// How `reduce` combines elements.
  ReduceOp op = ReduceOp::Sum;
};

// Statements. All sources are read before anything is written; all chunks of a statement have the same size.

/// Stores `src` at `dst`. A chunk that is copied onto itself moves nothing.
void copy(const Chunk &dst, const Chunk &src, const MoveOptions &options = {}, Place at = Place::here());
/// Stores `src` at each of `dsts`: one value to many places. Without any it does nothing.
void copy(ChunkList dsts, const Chunk &src, const MoveOptions &options = {}, Place at = Place::here());
/// Reduces `into` and `others` into `into`. The order of the operands is `into` first, then the others as listed.
/// Without others it does nothing.
void reduce(const Chunk &into, ChunkList others, const MoveOptions &options = {}, Place at = Place::here());
/// Reduces `first` and `others` in this order, and stores the result at `into`, whose old value is lost. Without
/// others it is a copy.
void reduce(const Chunk &into, const Chunk &first, ChunkList others, const MoveOptions &options = {},
            Place at = Place::here());

// Closer matches keep std::reduce out where both namespaces are in use.

/// The same for a braced list.
void reduce(const Chunk &into, std::initializer_list<Chunk> others, const MoveOptions &options = {},
            Place at = Place::here());
/// The same for a range of chunks.
template <typename Range>
  requires requires(const Range &range) { ChunkList(range); }
void reduce(const Chunk &into, const Chunk &first, const Range &others, const MoveOptions &options = {},
            Place at = Place::here()) {
  reduce(into, first, ChunkList(others), options, at);
}

} // namespace mscclc

#endif // MSCCLC_MOVES_HPP
