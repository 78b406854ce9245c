// The chunk IR: a static program of ranks, thread blocks and operations on chunks.
//
// A program is plain data. Each thread block owns three flat arrays: operations, chunk operands and ids; an operation
// holds ranges of the latter two. Nothing points at anything, so a program copies, moves and compares as a value.
// Versions of chunks (the SSA side) are derived, never stored: see def_use.h. Locations are ids into
// Program::sources. Indices and sizes of chunks are in chunks, never in bytes.
#pragma once

#include "ir/movement.h"
#include "ir/source_map.h"

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mscclc::ir {

/// What an operation is; ops.def describes each.
enum class OpKind : std::uint8_t {
#define OP(kind, ...) kind,
#include "ir/ops.def"
};

/// What an operation does. EffectInfo answers what others ask of it.
enum class OpEffect : std::uint8_t {
  BlockSync,          ///< the threads of the block wait for one another
  Barrier,            ///< the threads of several blocks wait for one another
  Acquire,            ///< waits for semaphores, and counts them down
  Release,            ///< counts semaphores up
  Signal,             ///< tells the peers of channels
  Wait,               ///< waits until the peers of channels tell
  Flush,              ///< waits until earlier port puts have left their source
  Move,               ///< stores source i at destination i, or the one source at all of them
  MoveAndSignal,      ///< the same through port channels, and then tells their peers
  MoveSignalAndFlush, ///< the same, and then waits until its puts have left their source
  Reduce,             ///< stores the reduction of all sources at every destination
  Loop,               ///< a pipeline header
};

/// How whoever runs a program takes an operation: proof, simulator and estimate go by it, and so learn of a new one.
enum class OpStep : std::uint8_t {
  BlockSync, ///< every thread of the block arrives; ends a phase
  Barrier,   ///< every thread of several blocks arrives; ends a phase
  Give,      ///< one thread for each channel or semaphore adds to its counter
  Take,      ///< one thread for each channel or semaphore waits for its counter and takes from it
  Drain,     ///< one thread for each port channel waits until its puts have left their source
  Data,      ///< threads, or proxies for them, store something at each destination; Stored says what
  Loop,      ///< a pipeline header
};

/// What a data operation leaves at its destinations. Whoever judges or moves data lists these.
enum class Stored : std::uint8_t {
  Nothing,   ///< it is no data operation
  Sources,   ///< source i at destination i, or the one source at all of them
  Reduction, ///< the reduction of all sources at every destination
};

/// What follows from an operation's effect.
struct EffectInfo {
  OpStep step;
  Stored stored = Stored::Nothing;
  bool thenSignals = false; ///< signals its channels after its data
  bool thenFlushes = false; ///< and waits until its puts have left their source

  /// Combines elements of several sources by the operation's ReduceOp.
  constexpr bool reduces() const {
    switch (stored) {
    case Stored::Nothing:
    case Stored::Sources:
      return false;
    case Stored::Reduction:
      return true;
    }
    return false;
  }
  /// Adds to counters that others wait on.
  constexpr bool sends() const { return step == OpStep::Give || thenSignals; }
  /// Takes from such counters.
  constexpr bool takes() const { return step == OpStep::Take; }
  /// Waits until port puts have left their source.
  constexpr bool flushes() const { return step == OpStep::Drain || thenFlushes; }
  /// One thread does what there is to do at each channel or semaphore. Such operations carry a DataSync of their own,
  /// and may be cut into several that name some of the channels or semaphores each.
  constexpr bool oneThreadPerId() const {
    return step == OpStep::Give || step == OpStep::Take || step == OpStep::Drain;
  }
};
constexpr EffectInfo info(OpEffect effect) {
  switch (effect) {
  case OpEffect::BlockSync:
    return {OpStep::BlockSync};
  case OpEffect::Barrier:
    return {OpStep::Barrier};
  case OpEffect::Acquire:
  case OpEffect::Wait:
    return {OpStep::Take};
  case OpEffect::Release:
  case OpEffect::Signal:
    return {OpStep::Give};
  case OpEffect::Flush:
    return {OpStep::Drain};
  case OpEffect::Move:
    return {OpStep::Data, Stored::Sources};
  case OpEffect::MoveAndSignal:
    return {.step = OpStep::Data, .stored = Stored::Sources, .thenSignals = true};
  case OpEffect::MoveSignalAndFlush:
    return {.step = OpStep::Data, .stored = Stored::Sources, .thenSignals = true, .thenFlushes = true};
  case OpEffect::Reduce:
    return {OpStep::Data, Stored::Reduction};
  case OpEffect::Loop:
    return {OpStep::Loop};
  }
  return {OpStep::BlockSync};
}

/// What the operands of one side of an operation hold.
enum class OperandForms : std::uint8_t {
  None, ///< there are none
  Plain,
  Packets,
  /// The first is plain, the others are packets (execution_kernel.hpp, handleReduceSendPackets and
  /// handleReduceCopySendPackets).
  PlainThenPackets,
  /// Packets on port channels, which send them as they lie there (handlePutPackets); else plain.
  PacketsIfPort,
};

inline constexpr std::size_t opKindCount = 0
#define OP(...) +1
#include "ir/ops.def"
    ;

/// A row of ops.def.
struct OpInfo {
  std::string_view mnemonic;
  std::string_view call;  ///< what the language calls it
  std::string_view event; ///< what traces of the executor call it; empty: nothing
  OpEffect effect;
  OpStep step;
  Stored stored;
  OperandForms sources, destinations;
};
inline constexpr std::array<OpInfo, opKindCount> opInfos{{
#define OP(kind, mnemonic, call, event, effect, sources, destinations, meaning)                                        \
  {mnemonic,                                                                                                           \
   call,                                                                                                               \
   event,                                                                                                              \
   OpEffect::effect,                                                                                                   \
   info(OpEffect::effect).step,                                                                                        \
   info(OpEffect::effect).stored,                                                                                      \
   OperandForms::sources,                                                                                              \
   OperandForms::destinations},
#include "ir/ops.def"
}};
constexpr const OpInfo &info(OpKind kind) {
  return opInfos[static_cast<std::size_t>(kind)];
}

enum class ChannelType : std::uint8_t { None, Memory, Port, Switch };
enum class BufferKind : std::uint8_t { Input, Output, Scratch };
/// How elements are combined; reduce_ops.def describes each.
enum class ReduceOp : std::uint8_t {
#define REDUCE_OP(id, ...) id,
#include "ir/reduce_ops.def"
};
inline constexpr std::string_view reduceOpNames[] = {
#define REDUCE_OP(id, name, ...) name,
#include "ir/reduce_ops.def"
};
inline constexpr std::size_t reduceOpCount = std::size(reduceOpNames);
/// What a reduction yields, in sentences: "sum", "product".
constexpr std::string_view nounOf(ReduceOp op) {
  constexpr std::string_view nouns[] = {
#define REDUCE_OP(id, name, noun, ...) noun,
#include "ir/reduce_ops.def"
  };
  return nouns[static_cast<std::size_t>(op)];
}
/// True if what is in a reduction twice does no harm.
constexpr bool isIdempotent(ReduceOp op) {
  constexpr bool idempotent[] = {
#define REDUCE_OP(id, name, noun, idempotent, ...) idempotent,
#include "ir/reduce_ops.def"
  };
  return idempotent[static_cast<std::size_t>(op)];
}
/// True if the order of the operands changes no bit.
constexpr bool isReorderable(ReduceOp op) {
  constexpr bool reorderable[] = {
#define REDUCE_OP(id, name, noun, idempotent, reorderable, inSwitch) reorderable,
#include "ir/reduce_ops.def"
  };
  return reorderable[static_cast<std::size_t>(op)];
}
/// True if a switch reduces so by itself. Others may go through a switch channel too: then a kernel reads the operands
/// one by one.
constexpr bool isDoneInSwitch(ReduceOp op) {
  constexpr bool inSwitch[] = {
#define REDUCE_OP(id, name, noun, idempotent, reorderable, inSwitch) inSwitch,
#include "ir/reduce_ops.def"
  };
  return inSwitch[static_cast<std::size_t>(op)];
}
/// True if a switch may take so many operands: it takes them in an order of its own, and a step of two commutes.
/// `reassociate`: the program lets reductions be taken in any order.
constexpr bool mayReduceInSwitch(ReduceOp op, std::size_t operands, bool reassociate) {
  return operands <= 2 || reassociate || isReorderable(op);
}
enum class Protocol : std::uint8_t { Simple, LL };
enum class Replication : std::uint8_t { Interleaved, None };

/// Block-wide synchronisation an operation still asks for around itself; lower-data-sync turns it into nops.
enum class DataSync : std::uint8_t { None = 0, Before = 1, After = 2, Both = 3 };
constexpr DataSync operator|(DataSync a, DataSync b) {
  return static_cast<DataSync>(unsigned(a) | unsigned(b));
}
constexpr DataSync operator&(DataSync a, DataSync b) {
  return static_cast<DataSync>(unsigned(a) & unsigned(b));
}
constexpr DataSync without(DataSync a, DataSync b) {
  return static_cast<DataSync>(unsigned(a) & ~unsigned(b));
}
constexpr bool has(DataSync a, DataSync b) {
  return (unsigned(a) & unsigned(b)) == unsigned(b);
}

/// Where a chunk operand lies, seen from the rank that executes the operation.
enum class ChunkSpace : std::uint8_t {
  Input,   ///< this rank's input
  Output,  ///< this rank's output
  Scratch, ///< this rank's scratch
  Remote,  ///< Rank::remoteBuffers[id], through a memory or port channel (Op::channelType says which)
  Switch,  ///< the buffer behind Rank::switchChannels[id], on every rank of its group
};
constexpr ChunkSpace spaceOf(BufferKind kind) {
  return static_cast<ChunkSpace>(kind);
}
constexpr bool isLocal(ChunkSpace space) {
  return space <= ChunkSpace::Scratch;
}

/// A chunk range [index, index + size), in chunks.
struct Chunk {
  ChunkSpace space = ChunkSpace::Input;
  std::uint32_t index = 0;
  std::uint32_t size = 0;
  /// Remote: index into Rank::remoteBuffers. Switch: index into Rank::switchChannels. Local: 0.
  std::uint32_t id = 0;
  friend bool operator==(const Chunk &, const Chunk &) = default;
};

/// One operation of a thread block. Operand ranges lie in the block's `chunks` (sources, then destinations) and `ids`.
struct Op {
  OpKind kind = OpKind::Nop;
  ChannelType channelType = ChannelType::None;
  ReduceOp reduceOp = ReduceOp::Sum;
  DataSync sync = DataSync::None;
  LocId loc = noLoc;
  std::uint32_t firstChunk = 0; ///< into ThreadBlock::chunks
  std::uint32_t numSrcs = 0;
  std::uint32_t numDsts = 0;
  std::uint32_t firstId = 0; ///< into ThreadBlock::ids
  /// Channels (indices into the rank's channels of `channelType`) of signal, wait, flush, get, port puts and switch
  /// operations; semaphores of acquire and release. Memory puts and reduces name no channel: their remote chunk does.
  std::uint32_t numIds = 0;
  /// Thread-block group: this block moves slice `groupIndex` of `groupSize` equal slices. groupSize 0: no group.
  std::uint32_t groupIndex = 0;
  std::uint32_t groupSize = 0;
  /// Pipeline: unit size in bytes. Barrier: barrier id within the rank.
  std::uint64_t imm = 0;
  /// Pipeline: chunks that the loop spans; it runs ceil(count × bytes of the largest chunk / unit) times
  /// (execution_plan.cc, setupOperation). Barrier: number of thread blocks that meet.
  std::uint32_t count = 0;
  /// Pipeline: number of operations directly after this one that are its body.
  std::uint32_t bodySize = 0;

  std::uint32_t numChunks() const { return numSrcs + numDsts; }
};
static_assert(sizeof(Op) <= 64);

/// An entry of a block's channel or remote-buffer table, in the order of first use.
struct ResourceUse {
  ChannelType type = ChannelType::None;
  std::uint32_t id = 0; ///< index into the rank's channels of that type, or into Rank::remoteBuffers
  friend bool operator==(const ResourceUse &, const ResourceUse &) = default;
};

/// The operations of a block in their order, and what they name.
struct ThreadBlock {
  std::vector<Op> ops;
  std::vector<Chunk> chunks;
  std::vector<std::uint32_t> ids;
  /// Channels the block uses. Holds also those that no operation names (memory puts and reduces).
  std::vector<ResourceUse> channels;
  /// Remote buffers the block uses, by the type of channel through which it reaches them.
  std::vector<ResourceUse> remoteBuffers;

  std::span<const Chunk> srcs(const Op &op) const { return {chunks.data() + op.firstChunk, op.numSrcs}; }
  std::span<const Chunk> dsts(const Op &op) const { return {chunks.data() + op.firstChunk + op.numSrcs, op.numDsts}; }
  std::span<const Chunk> operands(const Op &op) const { return {chunks.data() + op.firstChunk, op.numChunks()}; }
  std::span<Chunk> operands(const Op &op) { return {chunks.data() + op.firstChunk, op.numChunks()}; }
  std::span<const std::uint32_t> idsOf(const Op &op) const { return {ids.data() + op.firstId, op.numIds}; }
  std::span<std::uint32_t> idsOf(const Op &op) { return {ids.data() + op.firstId, op.numIds}; }

  /// Appends `op` with these operands; its range fields are set here. Returns its index.
  std::size_t append(Op op, std::span<const Chunk> srcs = {}, std::span<const Chunk> dsts = {},
                     std::span<const std::uint32_t> opIds = {});
};

/// A buffer of another rank that this rank touches.
struct RemoteBuffer {
  std::uint32_t rank = 0;
  BufferKind buffer = BufferKind::Input;
  bool viaMemory = false;
  bool viaPort = false;
  friend bool operator==(const RemoteBuffer &, const RemoteBuffer &) = default;
};

/// A multicast group; `ranks` as the program listed them.
struct SwitchChannel {
  BufferKind buffer = BufferKind::Input;
  std::vector<std::uint32_t> ranks;
  friend bool operator==(const SwitchChannel &, const SwitchChannel &) = default;
};

/// A counter that blocks of one rank share.
struct Semaphore {
  std::uint32_t initialValue = 0;
  friend bool operator==(const Semaphore &, const Semaphore &) = default;
};

/// A GPU: buffers, in chunks, the ends of its channels, and its thread blocks.
struct Rank {
  std::uint32_t inputChunks = 0;
  std::uint32_t outputChunks = 0;
  std::uint32_t scratchChunks = 0;
  std::vector<std::uint32_t> memoryPeers; ///< peer of memory channel k
  /// So many of the last memory channels carry what was signalled through switch channels (switch_signals.h).
  std::uint32_t switchSignals = 0;
  std::vector<std::uint32_t> portPeers; ///< peer of port channel k
  bool portChannelsFirst = false;       ///< a plan lists the type constructed first, first
  std::vector<SwitchChannel> switchChannels;
  std::vector<RemoteBuffer> remoteBuffers; ///< in the order of first use
  std::vector<Semaphore> semaphores;
  std::vector<ThreadBlock> blocks; ///< block id = position

  /// Peers of the point-to-point channels of `type` (Memory or Port).
  const std::vector<std::uint32_t> &peers(ChannelType type) const {
    return type == ChannelType::Port ? portPeers : memoryPeers;
  }
  /// Thread blocks that have operations.
  std::uint64_t busyBlocks() const;
  std::uint32_t chunksOf(BufferKind kind) const {
    return kind == BufferKind::Input ? inputChunks : kind == BufferKind::Output ? outputChunks : scratchChunks;
  }
};

/// The collectives of collectives.def.
enum class CollectiveKind : std::uint8_t {
#define COLLECTIVE(kind, ...) kind,
#define SIZED_COLLECTIVE(kind, ...) kind,
#include "runtime-min/include/mscclc/collectives.def"
};

/// Input chunk `chunk` of rank `rank`.
struct Contribution {
  std::uint32_t rank = 0;
  std::uint32_t chunk = 0;
  friend auto operator<=>(const Contribution &, const Contribution &) = default;
};

/// What output chunk `outputChunk` of rank `rank` holds at the end; several contributions are reduced.
struct Expectation {
  std::uint32_t rank = 0;
  std::uint32_t outputChunk = 0;
  std::vector<Contribution> contributions;
  LocId loc = noLoc;
};

/// What a program is to do, and what its outputs end as.
struct Collective {
  CollectiveKind kind = CollectiveKind::Test;
  std::string name = "test"; ///< as a plan prints it
  bool inplace = false;
  std::uint32_t chunkFactor = 1;
  std::uint32_t root = 0;                ///< of a collective that has one
  std::vector<Expectation> expectations; ///< of a custom collective only
  LocId loc = noLoc;                     ///< where a source states it
};

/// What is compiled: one launch of a collective on all ranks.
struct Program {
  std::string name;
  Collective collective;
  Protocol protocol = Protocol::Simple;
  /// Switches for passes, as the program set them. replicate-instances resets `instances` to 1.
  bool fuse = true;
  bool autoSync = true;
  std::uint32_t instances = 1;
  Replication replication = Replication::Interleaved;
  bool reuseResources = false;
  bool doubleScratch = false;
  /// fuse: a sum of packets that come late stays apart from one of others. In a program of Schedule::Auto it always
  /// does.
  bool latePacketsApart = false;
  std::uint32_t threadsPerBlock = 1024;
  std::uint32_t bufferAlignment = 16; ///< bytes
  std::uint64_t minMessageSize = 0;   ///< bytes
  std::uint64_t maxMessageSize = std::numeric_limits<std::uint64_t>::max();
  /// For selectors at run time, which pick among kernels: each is a name, or "name=2". See isTag().
  std::vector<std::string> tags;
  /// Auto: `movement` says what the program does, until the passes of passes/schedule have made thread blocks of it.
  Schedule schedule = Schedule::Manual;
  Movement movement;
  std::vector<Rank> ranks;
  SourceMap sources;

  /// Operations of all blocks, pipeline headers and bodies counted.
  std::size_t numOps() const;
};

/// True if `text` may be one of Program::tags: a name of letters, digits, '_', '-' and '.', then '=' and an integer if
/// that is not 1.
bool isTag(std::string_view text);

/// An operation's place in a program without source: rank, block, index into ThreadBlock::ops.
struct OpRef {
  std::uint32_t rank = 0;
  std::uint32_t block = 0;
  std::uint32_t op = 0;
  friend auto operator<=>(const OpRef &, const OpRef &) = default;
};

/// True if `op` comes from a line of a source, not from a plan or from IR without locations.
bool isOfSource(const Program &program, const Op &op);
/// `op` in the words of whoever wrote it: the language's call if it comes from a source, else the mnemonic.
std::string_view wordOf(const Program &program, const Op &op);

std::string_view toString(OpKind kind);         ///< plan mnemonic: "copy"
std::string_view toString(ChannelType type);    ///< "none", "memory", "port", "switch"
std::string_view toString(BufferKind kind);     ///< "input", "output", "scratch"
char bufferLetter(BufferKind kind);             ///< plan letter: 'i', 'o', 's'
std::string_view toString(ReduceOp op);         ///< as reduce_ops.def names it: "sum"
std::string_view toString(Protocol protocol);   ///< "Simple", "LL"
std::string_view toString(CollectiveKind kind); ///< "allgather", …; "custom" for a custom one

} // namespace mscclc::ir
