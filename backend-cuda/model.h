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
  Expr slot, slotStep; ///< scratch of a program of rows: k.scratch(index).holding(slot, slotStep); null: not known
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
  std::string hook;                    ///< the hook that is applied to what is stored to the first item; empty: none
  Expr inOutput;                       ///< where that lies in the output, in chunks

  std::uint32_t size() const { return runs.empty() ? 0 : runs.back().end; }
};

/// The part of an operation's rows that a block moves: k.whole(rows).part(index, parts).unit(u, bytes).
struct SliceExpr {
  std::uint32_t rows = 1;
  std::uint32_t parts = 0; ///< number of blocks of a thread-block group; 0: there is none
  Expr part;
  const Variable *unit = nullptr; ///< counter of the pipeline around it
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
  std::uint32_t chunks = 0; ///< the chunks that it covers
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
  std::string comment; ///< operation and place; empty for block-wide synchronisation
  std::variant<SyncStatement, CallStatement, UnitLoop, RepeatLoop> what;
};

// ---------------------------------------------------------------------------------------------------------- a kernel

/// A distinct block program, and the blocks that run it.
struct BlockProgram {
  std::vector<RankBlock> instances;
  std::vector<Statement> statements;
  std::vector<Statement> ofReceive; ///< in a split kernel those of the kernel that receives; else empty
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
  std::vector<Array> arrays;        ///< of all of them, in the order in which a launch gives them
  std::vector<std::string> headers; ///< that declare them, each once
  std::vector<std::string>
      spellings;    ///< by hook: RowHook<mscclc::hooks::AddRmsNorm, Writes<0>, Reads<1>>; empty: a wire format
  std::string wire; ///< the class of the program's wire format; empty: none
  /// Each chunk has whole blocks of so many elements; 1: no hook takes blocks. 0: none takes rows, either.
  std::uint64_t blockElements = 0;
};

struct KernelModel {
  std::uint32_t ranks = 0, threads = 0, blocksOnEach = 1, maxBlocks = 0, flags = 0;
  std::optional<std::uint32_t> root; ///< the root, if the collective has one
  std::uint32_t shares = 1, groupChunks = 0, scratchSlots = 0;
  std::uint32_t peerBuffers = 0;    ///< bit set of the kinds of buffers whose remote instances are accessed by address
  std::uint32_t mostRows = 0;       ///< the most rows of an operation that one block handles
  std::uint32_t switchChannels = 0; ///< the most that a rank has
  std::uint32_t memoryChannels = 0; ///< likewise, of one instance
  std::uint64_t unit = 16, messageBytes = 0, minMessageBytes = 0, maxMessageBytes = 0, bufferAlignment = 16;
  bool packets = false, doubleScratch = false;
  bool lamportPackets = false; ///< packets have no flags (ir::Protocol::Lamport)
  bool wideScratch = false;    ///< scratch holds elements as they are added up (ir::Accumulate::Wide)
  std::string withoutFlags;    ///< an integer type of the kernel, if it has Lamport packets; else empty
  bool mixesSpreads = false;   ///< and some take more room there than others
  bool reduces = false;
  bool isTyped = false; ///< false: the kernel takes elements of any type
  HookModel hooks;
  std::optional<ir::RowLayout> slots;         ///< of input and output, if counts say how many of their rows are live
  bool isSplit = false;                       ///< it is a kernel that sends and one that receives
  bool oncePerRank = false;                   ///< it sends a row once to each rank
  std::uint32_t experts = 0;                  ///< of each rank, if an index says where rows go
  std::uint32_t readyRows = 0;                ///< of a block of their rows that is handed over; 0: none is
  std::uint32_t ranksPerNode = 0;             ///< if counts go to other nodes through ports; else 0
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
  /// If conditions cannot distinguish the programs: the index of a block's program in `programs`.
  Expr programOf;
  DescriptorFormulas descriptor;
  WaitPlaces waits;
  Tables tables;                    ///< read by the device
  Tables descriptorTables{"facts"}; ///< that the host reads
};

} // namespace mscclc::cuda
