// The movement form: it says what a program moves, and not yet how.
//
// A program of ir::Schedule::Auto begins as a list of statements on chunks of any ranks, without thread blocks. Its
// meaning is to execute the statements one by one, in their order, on the memory of all ranks. The passes of
// passes/schedule decide the rest. `place` chooses the executing rank and the way to other ranks, `order` the order,
// `cut` the thread blocks. `synchronise` turns the statements into operations of thread blocks; after it no statement
// is left. Fields are empty until they are decided.
#pragma once

#include "ir/source_map.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace mscclc::ir {

enum class BufferKind : std::uint8_t;
enum class ChannelType : std::uint8_t;
enum class ReduceOp : std::uint8_t;

/// The form in which a program is written.
enum class Schedule : std::uint8_t {
  Manual, ///< operations of thread blocks, with all their synchronisation
  Auto,   ///< statements that move data
};

/// The effect of a statement.
enum class MoveKind : std::uint8_t {
  Copy,   ///< stores the one source at all destinations
  Reduce, ///< stores the reduction of all sources, first to last (but see Move::firstAfter), at all destinations
  Apply,  ///< applies a hook's function to the one place, which is both source and destination
};

/// The order in which a reduction combines its sources. It does not matter for minimum and maximum.
enum class Order : std::uint8_t {
  Written, ///< as the statements say
  Any,     ///< any
  Ranks,   ///< a chain in the order of ranks, for every element
  Tree,    ///< tree of ranks [a, b): trees of [a, a + p) and [a + p, b), with the largest power of two p < b - a
};
/// True if every element of every output is reduced in this one order.
constexpr bool isFixed(Order order) {
  return order == Order::Ranks || order == Order::Tree;
}

/// The type of partial results of sums and products of floats that are narrower than f32.
enum class Accumulate : std::uint8_t {
  Narrow, ///< f32 inside an operation, whose result is rounded to the type of elements
  Once,   ///< as Narrow, but no operation may add to a result that another operation has rounded
  Wide,   ///< as Once; scratch holds elements in the type in which they are added
};

/// The way on which a statement reaches memory of other ranks.
enum class Via : std::uint8_t { Memory, Port, Switch };

/// The range [index, index + size) of a buffer of a rank, in chunks.
struct RankChunk {
  std::uint32_t rank = 0;
  BufferKind buffer{};
  std::uint32_t index = 0;
  std::uint32_t size = 0;
  friend bool operator==(const RankChunk &, const RankChunk &) = default;
};

/// A statement. All sources are read before anything is written. Every place has the same number of chunks.
struct Move {
  MoveKind kind = MoveKind::Copy;
  ReduceOp reduceOp{};
  std::uint32_t hook = 0; ///< Apply: index into Program::hooks
  LocId loc = noLoc;
  std::uint32_t firstPlace = 0; ///< index into Movement::places: sources, then destinations
  std::uint32_t numSrcs = 0, numDsts = 0;
  std::optional<Via> via;
  std::optional<std::uint32_t> by;    ///< the rank that executes the statement
  std::optional<std::uint32_t> block; ///< the thread block that executes the statement, on rank `by`
  /// True if data of other ranks travels in packets. After the pass `place`, some places of the statement are then
  /// packets in scratch (see OperandForms): the sources of a Reduce except the first, a local source of a Copy, or
  /// otherwise the destinations.
  std::optional<bool> packets;
  /// For a Reduce after the pass `place`: how many of the other sources are combined before the first one (see
  /// Op::firstAfter).
  std::uint32_t firstAfter = 0;
  friend bool operator==(const Move &, const Move &) = default;
};

/// The statements of a program, with the choices that concern all of them.
struct Movement {
  std::vector<Move> statements;
  std::vector<RankChunk> places;
  /// Number of ranks of a node. They reach each other through memory and switch, and other ranks through ports. 0: all
  /// ranks are in one node.
  std::uint32_t ranksPerNode = 0;
  std::uint32_t mostBlocks = 0; ///< the most thread blocks of a rank, all instances together; 0: no limit
  Order order = Order::Written; ///< the order of reductions
  /// Programs of both schedules may ask for Wide. The compiler changes it to Once if sums are rounded only once even
  /// without wide scratch.
  Accumulate accumulate = Accumulate::Narrow;
  bool chooseProtocol = false, chooseInstances = false;

  // Choices of the pass `choose` for the passes after it.
  bool pull = false; ///< place: in a node, reductions read remote operands; otherwise other ranks put them into scratch
  std::uint32_t blocks = 1; ///< cut: thread blocks of a rank and instance
  bool stages = false;      ///< cut: one block for each stage of the path of data
  std::uint64_t step = 0;   ///< synchronise: bytes of each chunk that a pipeline moves in one iteration; 0: no pipeline
  bool throughSwitch = false; ///< place: statements that leave the way open use a switch where it can do them
  bool relayBlocks = false;   ///< synchronise: blocks without data take the excess channels of other blocks
  bool eager = false; ///< synchronise: each statement has its own sync; otherwise a sync serves as many as possible

  std::span<const RankChunk> srcs(const Move &m) const { return {places.data() + m.firstPlace, m.numSrcs}; }
  std::span<const RankChunk> dsts(const Move &m) const { return {places.data() + m.firstPlace + m.numSrcs, m.numDsts}; }
  /// Returns the sources, then the destinations.
  std::span<const RankChunk> placesOf(const Move &m) const {
    return {places.data() + m.firstPlace, std::size_t{m.numSrcs} + m.numDsts};
  }

  bool sameNode(std::uint32_t a, std::uint32_t b) const {
    return ranksPerNode == 0 || a / ranksPerNode == b / ranksPerNode;
  }
  /// Returns the way between two ranks, for statements that leave it open.
  Via wayOf(std::uint32_t a, std::uint32_t b) const { return sameNode(a, b) ? Via::Memory : Via::Port; }
  /// Appends `move` with these sources and destinations. Sets its fields that refer to them.
  void append(Move move, std::span<const RankChunk> srcs, std::span<const RankChunk> dsts);
  /// Removes all statements and their places, and returns them as a movement without other properties.
  Movement takeStatements();
  /// Replaces the statements and their places by those of `other`.
  void putStatements(Movement other);
};

std::string_view toString(MoveKind kind); ///< "copy", "reduce", "apply"
std::string_view toString(Via via);       ///< "memory", "port", "switch"

} // namespace mscclc::ir
