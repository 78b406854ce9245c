// Movement statements: they say what moves, on chunks of any ranks. Programs of Schedule::Auto consist of them.
//
// The meaning of such a program is to execute its statements one by one, in their order, on the memory of all ranks.
// The compiler chooses the executing rank, the way, the thread block and the synchronisation of each statement, as far
// as MoveOptions leaves them open. Python has no counterpart.
#ifndef MSCCLC_MOVES_HPP
#define MSCCLC_MOVES_HPP

#include "rank.hpp"

namespace mscclc {

/// The way on which a movement statement reaches memory of other ranks.
enum class Via : std::uint8_t {
  Auto,   ///< the compiler chooses
  Memory, ///< mapped memory, between ranks of one node
  Port,   ///< port channels
  Switch, ///< the switch, between ranks of one node: one value to all, or a reduction on the way
};

namespace detail {
/// A thread block, or none.
struct AnyBlock {
  constexpr AnyBlock(Automatic) {}
  constexpr AnyBlock(ThreadBlock given) : block(given), isGiven(true) {}

  ThreadBlock block;
  bool isGiven = false;
};
} // namespace detail

/// The choices that a movement statement makes itself: `{.via = Via::Port, .by = 3}`. The compiler makes the others.
struct MoveOptions {
  /// The way on which it reaches other ranks.
  Via via = Via::Auto;
  /// The rank that executes it; it must hold a source or a destination. A copy through a port, through the switch or in
  /// packets is executed by the rank that has its source.
  detail::AnyInteger by = automatic;
  /// The thread block that executes it, in each instance: tb(i). Numbers that no rank uses are left out of
  /// the plan.
  detail::AnyBlock on = automatic;
  /// True if data of other ranks travels in packets. Data through the switch does not.
  detail::AnyFlag packets = automatic;
  /// How `reduce` combines elements.
  ReduceOp op = ReduceOp::Sum;
};

// Statements. All sources are read before anything is written; all chunks of a statement have the same size.

/// Stores `src` at `dst`. A copy of a chunk onto itself moves nothing.
void copy(const Chunk &dst, const Chunk &src, const MoveOptions &options = {}, Place at = Place::here());
/// Stores `src` at each of `dsts`: one value to many places. If `dsts` is empty, it does nothing.
void copy(ChunkList dsts, const Chunk &src, const MoveOptions &options = {}, Place at = Place::here());
/// Reduces `into` and `others` into `into`. The order of the operands is `into` first, then the others as listed.
/// Without others it does nothing.
void reduce(const Chunk &into, ChunkList others, const MoveOptions &options = {}, Place at = Place::here());
/// Reduces `first` and `others` in this order, and stores the result at `into`, whose old value is lost. If `others` is
/// empty, it is a copy.
void reduce(const Chunk &into, const Chunk &first, ChunkList others, const MoveOptions &options = {},
            Place at = Place::here());

// These overloads match better than std::reduce, which matters if both namespaces are in use.

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
