// Movement statements: they say which data moves, on chunks of any ranks. Programs of Schedule::Auto consist of them.
//
// The meaning of such a program is to execute its statements one by one, in their order, on the memory of all ranks.
// For each statement the compiler chooses the executing rank, the way, the thread block and the synchronisation, if
// MoveOptions leave them open. Python has no counterpart.
#ifndef MSCCLC_MOVES_HPP
#define MSCCLC_MOVES_HPP

#include "rank.hpp"

namespace mscclc {

/// The way by which a movement statement reaches the memory of other ranks.
enum class Via : std::uint8_t {
  Auto,   ///< the compiler chooses
  Memory, ///< mapped memory, between ranks of one node
  Port,   ///< port channels
  Switch, ///< the switch, between ranks of one node; it sends one value to all, or reduces
};

namespace detail {
/// A thread block, or `automatic`.
struct AnyBlock {
  constexpr AnyBlock(Automatic) {}
  constexpr AnyBlock(ThreadBlock given) : block(given), isGiven(true) {}

  ThreadBlock block;
  bool isGiven = false;
};
} // namespace detail

/// The choices for a movement statement: `{.via = Via::Port, .by = 3}`. The compiler makes the choices that are left
/// open.
struct MoveOptions {
  /// The way by which the statement reaches other ranks.
  Via via = Via::Auto;
  /// The rank that executes the statement; it must hold a source or a destination. A copy through a port, through the
  /// switch or in packets must be executed by the rank of its source.
  detail::AnyInteger by = automatic;
  /// The thread block that executes the statement, in each instance: tb(i). The plan leaves out the numbers that no
  /// rank uses.
  detail::AnyBlock on = automatic;
  /// True if data travels between ranks in packets. Data through the switch never does.
  detail::AnyFlag packets = automatic;
  /// The operation by which `reduce` combines elements.
  ReduceOp op = ReduceOp::Sum;
};

// Statements. All sources are read before anything is written; all chunks of a statement have the same size.

/// Stores `src` at `dst`. A copy of a chunk onto itself moves nothing.
void copy(const Chunk &dst, const Chunk &src, const MoveOptions &options = {}, Place at = Place::here());
/// Stores `src` at each of `dsts`: one value to many places. If `dsts` is empty, it does nothing.
void copy(ChunkList dsts, const Chunk &src, const MoveOptions &options = {}, Place at = Place::here());
/// Reduces `into` and `others` in this order, and stores the result at `into`. If `others` is empty, it does nothing.
void reduce(const Chunk &into, ChunkList others, const MoveOptions &options = {}, Place at = Place::here());
/// Reduces `first` and `others` in this order, and stores the result at `into`, whose old value is lost. If `others` is
/// empty, it copies `first`.
void reduce(const Chunk &into, const Chunk &first, ChunkList others, const MoveOptions &options = {},
            Place at = Place::here());

// These overloads match better than std::reduce, which matters if both namespaces are in use.

/// Reduces `into` and a braced list of chunks.
void reduce(const Chunk &into, std::initializer_list<Chunk> others, const MoveOptions &options = {},
            Place at = Place::here());
/// Reduces `first` and a range of chunks, and stores the result at `into`.
template <typename Range>
  requires requires(const Range &range) { ChunkList(range); }
void reduce(const Chunk &into, const Chunk &first, const Range &others, const MoveOptions &options = {},
            Place at = Place::here()) {
  reduce(into, first, ChunkList(others), options, at);
}

} // namespace mscclc

#endif // MSCCLC_MOVES_HPP
