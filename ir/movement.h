// The movement form: what a program moves, before anyone said how.
//
// A program of ir::Schedule::Auto begins as a list of statements on chunks of any ranks, without thread blocks. It
// means what the statements do when they are executed one by one, in the order written, on the memory of all ranks at
// once. The passes of passes/schedule decide, pass by pass, who executes each statement and through what (place), in
// which order (order), in which block (cut), and last turn them into the operations of thread blocks (synchronise),
// after which no statement is left. What is not decided yet, or was left open by the user, is empty.
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

/// How a program says what it does.
enum class Schedule : std::uint8_t {
  Manual, ///< operations of thread blocks, with all their synchronisation
  Auto,   ///< statements that move data
};

/// What a statement does.
enum class MoveKind : std::uint8_t {
  Copy,   ///< stores the one source at all destinations
  Reduce, ///< stores the chain of sources, first to last, at all destinations
};

/// Through what a statement reaches other ranks' memory.
enum class Via : std::uint8_t { Memory, Port, Switch };

/// The range [index, index + size) of a buffer of a rank, in chunks.
struct RankChunk {
  std::uint32_t rank = 0;
  BufferKind buffer{};
  std::uint32_t index = 0;
  std::uint32_t size = 0;
  friend bool operator==(const RankChunk &, const RankChunk &) = default;
};

/// A statement. All sources are read before anything is written; every place has the same number of chunks.
struct Move {
  MoveKind kind = MoveKind::Copy;
  ReduceOp reduceOp{};
  LocId loc = noLoc;
  std::uint32_t firstPlace = 0; ///< into Movement::places: sources, then destinations
  std::uint32_t numSrcs = 0, numDsts = 0;
  std::optional<Via> via;
  std::optional<std::uint32_t> by;    ///< the rank that executes it
  std::optional<std::uint32_t> block; ///< the thread block there
  /// Data of other ranks travels in packets. After place: the sources after the first of a Reduce, the source of a Copy
  /// that is local, or else the destinations, are packets in scratch (see OperandForms).
  std::optional<bool> packets;
  friend bool operator==(const Move &, const Move &) = default;
};

/// The statements of a program, with what is said and decided about all of them.
struct Movement {
  std::vector<Move> statements;
  std::vector<RankChunk> places;
  /// Ranks of a node, which reach each other through memory and switch; others are reached through ports. 0: all ranks
  /// are of one node.
  std::uint32_t ranksPerNode = 0;
  std::uint32_t mostBlocks = 0; ///< thread blocks that a rank may use, all instances together; 0: as many as pay
  bool reassociate = false;     ///< reductions may be taken in any order
  bool chooseProtocol = false, chooseInstances = false;

  // What the pass choose decides for the passes after it.
  bool pull = false;          ///< place: reductions read their operands inside a node; else they are put into scratch
  std::uint32_t blocks = 1;   ///< cut: thread blocks of a rank and instance
  bool stages = false;        ///< cut: one block for each stage of the way that data takes
  std::uint64_t step = 0;     ///< synchronise: bytes that a pipeline moves of each chunk at once; 0: no pipeline
  bool throughSwitch = false; ///< place: what a switch can do goes through it, where a statement leaves that open
  bool relayBlocks = false;   ///< synchronise: blocks without data have the channels that others have too many of
  bool eager = false;         ///< synchronise: each statement waits and signals alone; else as many as can go together

  std::span<const RankChunk> srcs(const Move &m) const { return {places.data() + m.firstPlace, m.numSrcs}; }
  std::span<const RankChunk> dsts(const Move &m) const { return {places.data() + m.firstPlace + m.numSrcs, m.numDsts}; }

  bool sameNode(std::uint32_t a, std::uint32_t b) const {
    return ranksPerNode == 0 || a / ranksPerNode == b / ranksPerNode;
  }
  /// How two ranks reach each other's memory, where a statement does not say.
  Via wayOf(std::uint32_t a, std::uint32_t b) const { return sameNode(a, b) ? Via::Memory : Via::Port; }
  /// Appends `move` with these places; its range fields are set here.
  void append(Move move, std::span<const RankChunk> srcs, std::span<const RankChunk> dsts);
};

std::string_view toString(MoveKind kind); ///< "copy", "reduce"
std::string_view toString(Via via);       ///< "memory", "port", "switch"

} // namespace mscclc::ir
