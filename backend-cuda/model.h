// The parts of an emitted kernel, as plain data between the program and its text.
#pragma once

#include "backend-cuda/wait_places.h"
#include "ir/program.h"

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
  Expr peer; ///< owner of a peer's chunk
  Expr index;
  Expr slot, slotStep; ///< slots of scratch in a program of rows: .holding(slot, slotStep); null: not known
};

/// The operands of an operation: chunks, or numbers of channels and semaphores. It is written as one(…), few(…, …) or a
/// function of the item's number.
struct ListExpr {
  /// Items before number `end`.
  struct Run {
    std::uint32_t end;
    std::variant<Expr, ChunkExpr> item;
  };
  std::vector<Run> runs;
  const Variable *number = &var::item; ///< the variable that holds the number of an item
  bool writtenOut = false;             ///< every run is one item, which is written separately
  std::string hook;                    ///< the hook for values that are stored to the first item; empty: none
  Expr inOutput;                       ///< position of the first item in the output, in chunks

  std::uint32_t size() const { return runs.empty() ? 0 : runs.back().end; }
};

/// The part of an operation's rows that a block moves: k.whole(rows).part(index, parts).unit(u, bytes).
struct SliceExpr {
  std::uint32_t rows = 1;
  std::uint32_t parts = 0; ///< number of blocks of a thread-block group; 0: no group
  Expr part;
  const Variable *unit = nullptr; ///< counter of the surrounding pipeline; null: none
  std::uint64_t unitBytes = 0;
  bool dividesUnits = false; ///< parts consist of whole rows or blocks of hooks
};

using Argument = std::variant<Expr, ListExpr, SliceExpr>;

// -------------------------------------------------------------------------------------------------------- statements

struct Statement;

/// A synchronisation of all threads of the block.
struct SyncStatement {};

/// A call of a function of the device headers, with the kernel's state and these arguments.
struct CallStatement {
  std::string function;
  std::string templateArgument; ///< empty: none
  std::vector<Argument> arguments;
  bool movesData = false;
};

/// A loop with one iteration for every unit of a pipeline.
struct UnitLoop {
  std::uint64_t unitBytes = 0;
  std::uint32_t chunks = 0; ///< number of chunks that the loop covers
  const Variable *counter = &var::unit;
  std::vector<Statement> body;
};

/// A loop of `times` iterations over a sequence of operations that the program repeats.
struct RepeatLoop {
  int times = 0;
  const Variable *counter = &var::step;
  std::vector<Statement> body;
};

struct Statement {
  std::string comment; ///< operation and place in the source; empty for block-wide synchronisation
  std::variant<SyncStatement, CallStatement, UnitLoop, RepeatLoop> what;
};

// ---------------------------------------------------------------------------------------------------------- a kernel

/// A distinct block program, and the blocks that run it.
struct BlockProgram {
  std::vector<RankBlock> instances;
  std::vector<Statement> statements;
  std::vector<Statement> ofReceive; ///< statements of the receiving kernel if the kernel is split; else empty
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

/// The functions of a program's hooks.
struct HookModel {
  struct Array {
    std::string name;
    bool isWritten = false;
  };
  std::vector<Array> arrays;        ///< the arrays of all hooks, in the order in which a launch gives them
  std::vector<std::string> headers; ///< the headers that declare the functions, each once
  std::vector<std::string>
      spellings;    ///< [hook]: its class: RowHook<mscclc::hooks::AddRmsNorm, Writes<0>>; empty: a wire format
  std::string wire; ///< the class of the program's wire format; empty: none
  /// Chunks consist of whole blocks of this many elements. 1: hooks take rows, but no blocks. 0: hooks take single
  /// elements only.
  std::uint64_t blockElements = 0;
};

struct KernelModel {
  std::uint32_t ranks = 0, threads = 0, blocksOnEach = 1, maxBlocks = 0, flags = 0;
  std::optional<std::uint32_t> root; ///< the root, if the collective has one
  std::uint32_t shares = 1, groupChunks = 0, scratchSlots = 0;
  /// Bit set of kinds of buffers; peers' buffers of these kinds are accessed by address.
  std::uint32_t peerBuffers = 0;
  std::uint32_t mostRows = 0;       ///< the most chunks that a block moves in one operation
  std::uint32_t switchChannels = 0; ///< the most switch channels of any rank
  std::uint32_t memoryChannels = 0; ///< the most memory channels of any rank, for one instance
  std::uint64_t unit = 16, messageBytes = 0, minMessageBytes = 0, maxMessageBytes = 0, bufferAlignment = 16;
  bool packets = false, doubleScratch = false;
  bool lamportPackets = false; ///< packets have no flags (ir::Protocol::Lamport)
  bool wideScratch = false;    ///< scratch holds elements in the wider type of sums (ir::Accumulate::Wide)
  std::string withoutFlags;    ///< an integer type of the kernel, if it has Lamport packets; else empty
  bool mixesSpreads = false;   ///< in scratch, some element types grow by a larger factor than others
  bool reduces = false;
  bool isTyped = false; ///< false: the kernel takes elements of any type
  HookModel hooks;
  std::optional<ir::RowLayout> slots;         ///< layout of input and output, if counts give the numbers of live rows
  bool isSplit = false;                       ///< there is a kernel that sends and one that receives
  bool oncePerRank = false;                   ///< a row goes to a rank at most once (ir::OncePerRank)
  std::uint32_t experts = 0;                  ///< experts of each rank, if an index gives the places of rows; else 0
  std::uint32_t readyRows = 0;                ///< rows of experts that are handed over as one block; 0: all at once
  std::uint32_t ranksPerNode = 0;             ///< ranks of a node, if counts go to other nodes through ports; else 0
  std::uint32_t elementBytes = 1;             ///< size of the longest element type
  bool outlined = false;                      ///< the program is long, so loops over rows are functions
  std::string dtypes, reduceOps, packetKinds; ///< default lists of template arguments
  std::vector<BlockProgram> programs;
  /// Conditions and their programs. The kernel runs the program of the first condition that holds. The last program has
  /// no condition.
  struct Case {
    Expr condition;
    std::size_t program;
  };
  std::vector<Case> cases;
  /// The index of a block's program in `programs`. Null if conditions distinguish the programs.
  Expr programOf;
  DescriptorFormulas descriptor;
  WaitPlaces waits;
  Tables tables;                    ///< the tables that the device reads
  Tables descriptorTables{"facts"}; ///< the tables that the host reads
};

} // namespace mscclc::cuda
