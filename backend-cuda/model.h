// What an emitted kernel consists of, as plain data between the program and its text.
#pragma once

#include "backend-cuda/numbers.h"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace mscclc::cuda {

// ---------------------------------------------------------------------------------------------------------- operands

/// A chunk: k.input(index), k.peerInput(peer, index) or k.portInput(index).
struct ChunkExpr {
  enum class Reach : std::uint8_t { Own, Peer, Port } reach = Reach::Own;
  enum class View : std::uint8_t { Input, Output, Scratch, Packets } view = View::Input;
  Expr peer; ///< of a peer's chunk
  Expr index;
};

/// What an operation works on, one after another: chunks, or numbers of channels and semaphores. Written as one(…),
/// few(…, …) or a function of the item's number.
struct ListExpr {
  /// Items up to number `end`.
  struct Run {
    std::uint32_t end;
    std::variant<Expr, ChunkExpr> item;
  };
  std::vector<Run> runs;
  const Variable *number = &var::item; ///< of an item, as the runs refer to it
  bool writtenOut = false;             ///< every run is one item, which is written by itself

  std::uint32_t size() const { return runs.empty() ? 0 : runs.back().end; }
};

/// The part of an operation's rows that a block moves: k.whole(rows).part(index, parts).unit(u, bytes).
struct SliceExpr {
  std::uint32_t rows = 1;
  std::uint32_t parts = 0; ///< of a thread-block group; 0: there is none
  Expr part;
  const Variable *unit = nullptr; ///< iteration of the pipeline around it
  std::uint64_t unitBytes = 0;
};

using Argument = std::variant<Expr, ListExpr, SliceExpr>;

// -------------------------------------------------------------------------------------------------------- statements

struct Statement;

/// All threads of the block meet.
struct SyncStatement {};

/// A function of the device headers, called with the kernel's state and these arguments.
struct CallStatement {
  std::string function;
  std::string templateArgument; ///< empty: none
  std::vector<Argument> arguments;
  bool movesData = false;
};

/// The body, for every unit of a pipeline.
struct UnitLoop {
  std::uint64_t unitBytes = 0;
  std::uint32_t chunks = 0; ///< it runs over
  const Variable *counter = &var::unit;
  std::vector<Statement> body;
};

/// The body, `times` times: a sequence of operations that the program repeats.
struct RepeatLoop {
  int times = 0;
  const Variable *counter = &var::step;
  std::vector<Statement> body;
};

struct Statement {
  std::string comment; ///< operation and place; empty for block-wide synchronisation
  std::variant<SyncStatement, CallStatement, UnitLoop, RepeatLoop> what;
};

// ---------------------------------------------------------------------------------------------------------- a kernel

/// A distinct block program and who runs it.
struct BlockProgram {
  std::vector<RankBlock> instances;
  std::vector<Statement> statements;
};

/// Formulas of the descriptor's functions, in the variables that kernel.cu.in gives them.
struct DescriptorFormulas {
  Expr inputChunks, outputChunks, scratchChunks, blocks, memoryChannels, portChannels, switchChannels, remoteBuffers,
      semaphores, barriers;
  Expr memoryPeer, memoryPeerChannel, portPeer, portPeerChannel;
  Expr switchBuffer, switchSize, switchMember;
  Expr remoteRank, remoteBuffer, remoteViaMemory, remoteViaPort;
  Expr semaphoreValue;
};

struct KernelModel {
  std::uint32_t ranks = 0, threads = 0, blocksOnEach = 1, maxBlocks = 0, flags = 0;
  std::optional<std::uint32_t> root; ///< of a collective that has one
  std::uint32_t shares = 1, groupChunks = 0, scratchSlots = 0;
  std::uint32_t peerBuffers = 0;    ///< kinds of buffers, by bits, of which peers' are accessed by their addresses
  std::uint32_t mostRows = 0;       ///< of an operation, as far as one block does it
  std::uint32_t switchChannels = 0; ///< of the rank with most
  std::uint64_t unit = 16, messageBytes = 0, minMessageBytes = 0, maxMessageBytes = 0, bufferAlignment = 16;
  bool packets = false, doubleScratch = false;
  bool reduces = false;                       ///< else it takes elements of any type
  std::uint32_t elementBytes = 1;             ///< of its longest type
  bool outlined = false;                      ///< loops over rows are functions: the program is long
  std::string dtypes, reduceOps, packetKinds; ///< default lists of template arguments
  std::vector<BlockProgram> programs;
  /// Who runs what, in the order of asking: the first that holds; the last has no condition.
  struct Case {
    Expr condition;
    std::size_t program;
  };
  std::vector<Case> cases;
  /// Where conditions do not tell: which program a block runs, as an index into `programs`.
  Expr programOf;
  DescriptorFormulas descriptor;
  Tables tables;                    ///< that the device reads
  Tables descriptorTables{"facts"}; ///< that the host reads
};

} // namespace mscclc::cuda
