// The chunk IR: a static program of ranks, thread blocks and operations on chunks.
//
// A program is plain data. Each thread block owns three flat arrays: operations, chunk operands and ids. An operation
// holds ranges of the latter two. There are no pointers, so a program copies, moves and compares as a value. Versions
// of chunks (the SSA side) are derived, never stored: see def_use.h. Locations are ids into Program::sources. Indices
// and sizes of chunks are in chunks, never in bytes.
#pragma once

#include "ir/movement.h"
#include "ir/source_map.h"

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mscclc::ir {

/// The kinds of operations; ops.def describes each.
enum class OpKind : std::uint8_t {
#define OP(kind, ...) kind,
#include "ir/ops.def"
};

/// The effect of an operation. EffectInfo has the properties that follow from it.
enum class OpEffect : std::uint8_t {
  BlockSync,          ///< the threads of the block wait for one another
  Barrier,            ///< the threads of several blocks wait for one another
  Acquire,            ///< waits for semaphores, and counts them down
  Release,            ///< counts semaphores up
  Signal,             ///< increments the counters of the peers of channels
  Wait,               ///< waits until the peers of channels have signalled
  Flush,              ///< waits until earlier port puts have left their source
  Move,               ///< stores source i at destination i, or the only source at all destinations
  MoveAndSignal,      ///< a Move through port channels, followed by a signal to their peers
  MoveSignalAndFlush, ///< a MoveAndSignal, followed by a wait until its puts have left their source
  Reduce,             ///< stores the reduction of all sources at every destination
  Apply,              ///< stores the result of a hook's function of its source at its destination
  Loop,               ///< a pipeline header
};

/// The way in which a walker executes an operation. Proof, simulator and estimate depend on this alone, so a new
/// operation with a known step needs no code there.
enum class OpStep : std::uint8_t {
  BlockSync, ///< every thread of the block arrives; ends a phase
  Barrier,   ///< every thread of several blocks arrives; ends a phase
  Give,      ///< one thread for each channel or semaphore adds to its counter
  Take,      ///< one thread for each channel or semaphore waits for its counter and takes from it
  Drain,     ///< one thread for each port channel waits until its puts have left their source
  Data,      ///< threads, or proxies for them, store data at each destination (see Stored)
  Loop,      ///< a pipeline header
};

/// The data that an operation leaves at its destinations. Code that checks or moves data switches on this.
enum class Stored : std::uint8_t {
  Nothing,   ///< nothing, because the operation is no data operation
  Sources,   ///< source i at destination i, or the one source at all of them
  Reduction, ///< the reduction of all sources at every destination
  Applied,   ///< the result of a hook's function of the one source, at the one destination
};

/// The properties that follow from an operation's effect.
struct EffectInfo {
  OpStep step;
  Stored stored = Stored::Nothing;
  bool thenSignals = false; ///< signals its channels after its data
  bool thenFlushes = false; ///< after that, waits until its puts have left their source

  /// True if the operation combines elements of several sources by its ReduceOp.
  constexpr bool reduces() const {
    switch (stored) {
    case Stored::Nothing:
    case Stored::Sources:
    case Stored::Applied:
      return false;
    case Stored::Reduction:
      return true;
    }
    return false;
  }
  /// True if the operation adds to counters that others wait on.
  constexpr bool sends() const { return step == OpStep::Give || thenSignals; }
  /// True if the operation waits for counters and takes from them.
  constexpr bool takes() const { return step == OpStep::Take; }
  /// True if the operation waits until port puts have left their source.
  constexpr bool flushes() const { return step == OpStep::Drain || thenFlushes; }
  /// True if each channel or semaphore is handled by a thread of its own. Such an operation carries a DataSync of its
  /// own. It may be cut into several operations, each with some of the channels or semaphores.
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
  case OpEffect::Apply:
    return {OpStep::Data, Stored::Applied};
  case OpEffect::Loop:
    return {OpStep::Loop};
  }
  return {OpStep::BlockSync};
}

/// The form of the operands on one side of an operation.
enum class OperandForms : std::uint8_t {
  None, ///< there are no operands
  Plain,
  Packets,
  /// The first operand is plain, and the others are packets (execution_kernel.hpp, handleReduceSendPackets and
  /// handleReduceCopySendPackets).
  PlainThenPackets,
  /// The operands are packets on port channels, which send them unchanged (handlePutPackets). Else they are plain.
  PacketsIfPort,
};

inline constexpr std::size_t opKindCount = 0
#define OP(...) +1
#include "ir/ops.def"
    ;

/// A row of ops.def.
struct OpInfo {
  std::string_view mnemonic;
  std::string_view call;  ///< the name in the language
  std::string_view event; ///< the name in traces of the executor; may be empty
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
/// The operations that combine elements; reduce_ops.def describes each.
enum class ReduceOp : std::uint8_t {
#define REDUCE_OP(id, ...) id,
#include "ir/reduce_ops.def"
};
inline constexpr std::string_view reduceOpNames[] = {
#define REDUCE_OP(id, name, ...) name,
#include "ir/reduce_ops.def"
};
inline constexpr std::size_t reduceOpCount = std::size(reduceOpNames);
/// Returns the result of a reduction as a noun: "sum", "product".
constexpr std::string_view nounOf(ReduceOp op) {
  constexpr std::string_view nouns[] = {
#define REDUCE_OP(id, name, noun, ...) noun,
#include "ir/reduce_ops.def"
  };
  return nouns[static_cast<std::size_t>(op)];
}
/// True if an operand may occur twice in a reduction without a change of the result.
constexpr bool isIdempotent(ReduceOp op) {
  constexpr bool idempotent[] = {
#define REDUCE_OP(id, name, noun, idempotent, ...) idempotent,
#include "ir/reduce_ops.def"
  };
  return idempotent[static_cast<std::size_t>(op)];
}
/// True if the order of the operands changes no bit of the result.
constexpr bool isReorderable(ReduceOp op) {
  constexpr bool reorderable[] = {
#define REDUCE_OP(id, name, noun, idempotent, reorderable, inSwitch) reorderable,
#include "ir/reduce_ops.def"
  };
  return reorderable[static_cast<std::size_t>(op)];
}
/// True if the hardware of a switch can do the reduction. Other reductions may go through a switch channel too, but
/// then a kernel reads the operands one by one.
constexpr bool isDoneInSwitch(ReduceOp op) {
  constexpr bool inSwitch[] = {
#define REDUCE_OP(id, name, noun, idempotent, reorderable, inSwitch) inSwitch,
#include "ir/reduce_ops.def"
  };
  return inSwitch[static_cast<std::size_t>(op)];
}
/// True if a switch may reduce `operands` operands. It takes them in any order. For two operands the order does not
/// matter, because every operation is commutative. `order` is that of the program.
constexpr bool mayReduceInSwitch(ReduceOp op, std::size_t operands, Order order) {
  return operands <= 2 || order == Order::Any || isReorderable(op);
}
/// The form in which data travels between ranks. Code calls usesPackets(), unless the form of packets matters.
enum class Protocol : std::uint8_t {
  Simple,  ///< plain data, and signals
  LL,      ///< packets that carry a flag beside their data
  Lamport, ///< packets without flags, for kernels that sum floats: -0.0 travels as +0.0
};
constexpr bool usesPackets(Protocol protocol) {
  return protocol != Protocol::Simple;
}
enum class Replication : std::uint8_t { Interleaved, None };

/// Block-wide synchronisation that an operation still needs around it. lower-data-sync turns it into nops.
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

/// The place of a chunk operand, seen from the rank that executes the operation.
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

/// One operation of a thread block. Its operands are ranges of the block's `chunks` (sources, then destinations) and
/// `ids`.
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
  /// Number of ids. For signal, wait, flush, get, port puts and switch operations, ids are indices into the rank's
  /// channels of `channelType`. For acquire and release, they are semaphores. Memory puts and reduces have none: their
  /// remote chunks name the memory.
  std::uint32_t numIds = 0;
  /// Thread-block group: this block moves slice `groupIndex` of `groupSize` equal slices. groupSize 0: no group.
  std::uint32_t groupIndex = 0;
  std::uint32_t groupSize = 0;
  /// Pipeline: unit size in bytes. Barrier: barrier id within the rank. Apply: index into Program::hooks.
  std::uint64_t imm = 0;
  /// Pipeline: chunks that the loop covers. It runs ceil(count × bytes of the largest chunk / unit) times
  /// (execution_plan.cc, setupOperation). Barrier: number of thread blocks that meet.
  std::uint32_t count = 0;
  /// Pipeline: number of operations in its body, which directly follow this one.
  std::uint32_t bodySize = 0;
  /// For reductions in which only the first source is plain memory of the own rank (addsFirstAnywhere): the number of
  /// other sources that are added before the first one. The others are added in their order.
  std::uint32_t firstAfter = 0;

  std::uint32_t numChunks() const { return numSrcs + numDsts; }
};
static_assert(sizeof(Op) <= 64);

/// An entry of a block's channel or remote-buffer table, in the order of first use.
struct ResourceUse {
  ChannelType type = ChannelType::None;
  std::uint32_t id = 0; ///< index into the rank's channels of that type, or into Rank::remoteBuffers
  friend bool operator==(const ResourceUse &, const ResourceUse &) = default;
};

/// The operations of a block in their order, and tables of the channels and remote buffers that they use.
struct ThreadBlock {
  std::vector<Op> ops;
  std::vector<Chunk> chunks;
  std::vector<std::uint32_t> ids;
  /// Channels that the block uses. This includes channels that no operation names (memory puts and reduces).
  std::vector<ResourceUse> channels;
  /// Remote buffers that the block uses, each with the type of channel through which the block reaches it.
  std::vector<ResourceUse> remoteBuffers;

  std::span<const Chunk> srcs(const Op &op) const { return {chunks.data() + op.firstChunk, op.numSrcs}; }
  std::span<const Chunk> dsts(const Op &op) const { return {chunks.data() + op.firstChunk + op.numSrcs, op.numDsts}; }
  std::span<const Chunk> operands(const Op &op) const { return {chunks.data() + op.firstChunk, op.numChunks()}; }
  std::span<Chunk> operands(const Op &op) { return {chunks.data() + op.firstChunk, op.numChunks()}; }
  std::span<const std::uint32_t> idsOf(const Op &op) const { return {ids.data() + op.firstId, op.numIds}; }
  std::span<std::uint32_t> idsOf(const Op &op) { return {ids.data() + op.firstId, op.numIds}; }

  /// Appends `op` with these operands and returns its index. Sets its fields that refer to the operands.
  std::size_t append(Op op, std::span<const Chunk> srcs = {}, std::span<const Chunk> dsts = {},
                     std::span<const std::uint32_t> opIds = {});
};

/// A buffer of another rank that this rank accesses.
struct RemoteBuffer {
  std::uint32_t rank = 0;
  BufferKind buffer = BufferKind::Input;
  bool viaMemory = false;
  bool viaPort = false;
  friend bool operator==(const RemoteBuffer &, const RemoteBuffer &) = default;
};

/// A multicast group. `ranks` are in the order in which the program lists them.
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

/// A GPU: its buffers, in chunks, the ends of its channels, and its thread blocks.
struct Rank {
  std::uint32_t inputChunks = 0;
  std::uint32_t outputChunks = 0;
  std::uint32_t scratchChunks = 0;
  std::vector<std::uint32_t> memoryPeers; ///< [k]: peer of memory channel k
  /// The number of memory channels that replace signals through switch channels (switch_signals.h). They are the last
  /// ones.
  std::uint32_t switchSignals = 0;
  std::vector<std::uint32_t> portPeers; ///< [k]: peer of port channel k
  bool portChannelsFirst = false; ///< port channels were constructed before memory channels, and come first in a plan
  std::vector<SwitchChannel> switchChannels;
  std::vector<RemoteBuffer> remoteBuffers; ///< remote buffers in the order of first use
  std::vector<Semaphore> semaphores;
  std::vector<ThreadBlock> blocks; ///< block id = position

  /// Returns the peers of the point-to-point channels of `type` (Memory or Port).
  const std::vector<std::uint32_t> &peers(ChannelType type) const {
    return type == ChannelType::Port ? portPeers : memoryPeers;
  }
  /// Returns the number of thread blocks that have operations.
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

/// The final contents of output chunk `outputChunk` of rank `rank`; several contributions are reduced.
struct Expectation {
  std::uint32_t rank = 0;
  std::uint32_t outputChunk = 0;
  std::vector<Contribution> contributions;
  LocId loc = noLoc;
};

/// The places of rows in slots, for a collective of rows. Each slot of an input goes to one rank, and each slot of an
/// output comes from one rank. Slots are in the order of these ranks.
enum class RowLayout : std::uint8_t {
  Padded, ///< a slot begins at its chunk, which has room for its capacity
  Packed, ///< the rows of a slot follow the rows of the slots before it
};
inline constexpr std::string_view rowLayoutNames[] = {"padded", "packed"};

/// The places of the rows of a rank's experts, for a collective with experts. Each rank sends at most `capacity` rows
/// to an expert.
enum class ExpertLayout : std::uint8_t {
  ExpertMajor, ///< [expert][ranks * capacity]: the rows that an expert gets follow each other, in the order of senders
  RankMajor,   ///< [sender][experts * capacity]: the rows of a sender follow each other, in the order of experts
};
inline constexpr std::string_view expertLayoutNames[] = {"expert_major", "rank_major"};

/// How often a dispatch sends a row to a rank.
enum class OncePerRank : std::uint8_t {
  Off,       ///< once for each of the row's experts on this rank
  On,        ///< at most once, with a list of places to which the receiving rank copies the row
  Automatic, ///< the time model decides
};

/// The collective of a program: its buffers, and the final contents of its outputs.
struct Collective {
  CollectiveKind kind = CollectiveKind::Test;
  std::string name = "test"; ///< as a plan prints it
  bool inplace = false;
  std::uint32_t chunkFactor = 1;
  std::uint32_t root = 0;                                ///< the root, if the collective has one
  RowLayout rows = RowLayout::Padded;                    ///< the layout of input and output, in a collective of rows
  ExpertLayout expertLayout = ExpertLayout::ExpertMajor; ///< only for a collective with experts
  std::uint32_t experts = 0;                             ///< experts of each rank, for such a collective
  std::vector<Expectation> expectations;                 ///< promises of a custom collective
  std::string then;  ///< the hook whose function is applied to the promised values; empty: none
  LocId loc = noLoc; ///< place in the source where the collective is given
};

/// The part of a message to which a hook's function is applied at once.
enum class Granularity : std::uint8_t {
  Element,
  Block, ///< a number of elements
  Row,   ///< a launch gives the number of elements
};
inline constexpr std::string_view granularityNames[] = {"element", "block", "row"};

/// The form in which a program keeps values in scratch, and in which they travel between ranks.
enum class Wire : std::uint8_t {
  None,   ///< as elements of the message
  F8E4m3, ///< as f8e4m3, with an f32 scale for each block
  Bf16,   ///< as bf16
};
inline constexpr std::string_view wireNames[] = {"none", "f8e4m3", "bf16"};

/// A function of the user that is applied to data in place. It may read and write arrays of the rank, which are passed
/// to the launch. Row i of such an array belongs to row i of the rank's output.
struct Hook {
  std::string name;
  Granularity granularity = Granularity::Element;
  std::uint32_t block = 0;                ///< elements of a block; 0 for another granularity
  std::vector<std::string> reads, writes; ///< names of arrays
  std::vector<std::string> equal;         ///< the arrays in `reads` that are the same on all ranks
  /// The C++ type whose function a kernel calls, and the header that declares it; empty: none.
  std::string function, header;
  /// If this is not None, the hook is the wire format of the program instead of a user's function. No operation names
  /// it. Data is encoded when it is stored in scratch, and decoded when it is read there. Data that moves from scratch
  /// to scratch stays as it is.
  Wire wire = Wire::None;
  LocId loc = noLoc;

  /// True if ranks may get different results for the same value, or if the function changes an array.
  bool isOfRank() const;
  /// Returns the arrays in the order in which the function takes them: `reads`, then arrays that are only in `writes`.
  std::vector<std::string> arrays() const;
  friend bool operator==(const Hook &, const Hook &) = default;
};
/// Returns a fault of `hook` in words, as in "reads array 'x' twice"; empty if there is none.
std::string faultOf(const Hook &hook);

/// The program that is compiled: one launch of a collective on all ranks.
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
  /// fuse: a sum of packets that arrive late is not joined with another sum. Programs of Schedule::Auto always behave
  /// so.
  bool latePacketsApart = false;
  /// The program becomes two kernels: the first one sends and never waits for another rank, and the second one
  /// receives. A launch runs both, in this order. The order of operations in thread blocks decides which kernel does an
  /// operation (backend-cuda/split.h). So proof, simulation and time model see one launch.
  bool split = false;
  /// The number of rows of a block, if a launch and its user hand over the rows of experts block by block (ReadyBlocks
  /// in ir/expert_places.h). Each block has a word. A Dispatch sets the word when the block's rows are there. A Combine
  /// waits for the word before it reads the rows. 0: all rows are handed over at once, at the end or the beginning of
  /// the launch.
  std::uint32_t readyRows = 0;
  /// How often a dispatch sends a row to a rank that has several of the row's experts (ExpertCells in rows.h).
  /// Operations do not depend on it. Code that depends on it needs a value other than Automatic.
  OncePerRank oncePerRank = OncePerRank::Off;
  std::uint32_t threadsPerBlock = 1024;
  std::uint32_t bufferAlignment = 16; ///< bytes
  std::uint64_t minMessageSize = 0;   ///< bytes
  std::uint64_t maxMessageSize = std::numeric_limits<std::uint64_t>::max();
  /// Tags for selectors, which choose among kernels at run time. A tag is a name, or a name with a number, as in
  /// "name=2". See isTag().
  std::vector<std::string> tags;
  std::vector<Hook> hooks;
  /// With Auto, the program is in `movement` until the passes of passes/schedule have made thread blocks of it.
  Schedule schedule = Schedule::Manual;
  Movement movement;
  std::vector<Rank> ranks;
  SourceMap sources;

  /// Returns the number of operations of all blocks, including pipelines' headers and bodies.
  std::size_t numOps() const;
  /// True if some rank has port channels.
  bool hasPorts() const;
};

/// Returns the hook that is the wire format of `program`; null if it has none.
const Hook *wireOf(const Program &program);

/// Returns the size of a float in scratch divided by its size in a message, `elementBytes` bytes. For other types,
/// `elementBytes` is 0, because scratch holds them as they are.
constexpr std::uint64_t spreadInScratch(const Program &program, std::uint32_t elementBytes) {
  constexpr std::uint32_t wide = 4;
  return program.movement.accumulate == Accumulate::Wide && elementBytes != 0 && elementBytes < wide
             ? wide / elementBytes
             : 1;
}

/// True if `text` may be one of Program::tags: a name of letters, digits, '_', '-' and '.'. If its value is not 1, an
/// '=' and an integer follow.
bool isTag(std::string_view text);

/// The place of an operation in a program: rank, block, index into ThreadBlock::ops.
struct OpRef {
  std::uint32_t rank = 0;
  std::uint32_t block = 0;
  std::uint32_t op = 0;
  friend auto operator<=>(const OpRef &, const OpRef &) = default;
};
inline const Op &opAt(const Program &program, const OpRef &place) {
  return program.ranks[place.rank].blocks[place.block].ops[place.op];
}

/// True if a switch adds or multiplies elements in some operation.
bool sumsInSwitch(const Program &program);

/// True if `op` comes from a line of a source, rather than from a plan or from IR without locations.
bool isOfSource(const Program &program, const Op &op);
/// Returns the name of `op` that the author of the input used. It is the call of the language if `op` comes from a
/// source, else the mnemonic.
std::string_view wordOf(const Program &program, const Op &op);

std::string_view toString(OpKind kind);         ///< plan mnemonic: "copy"
std::string_view toString(ChannelType type);    ///< "none", "memory", "port", "switch"
std::string_view toString(BufferKind kind);     ///< "input", "output", "scratch"
char bufferLetter(BufferKind kind);             ///< plan letter: 'i', 'o', 's'
std::string_view toString(ReduceOp op);         ///< the name in reduce_ops.def: "sum"
std::string_view toString(Protocol protocol);   ///< "Simple", "LL", "Lamport"
std::string_view toString(CollectiveKind kind); ///< "allgather", …; "custom" for a custom collective

/// Returns the thread blocks of all of `ranks`, one after the other.
auto blocksOf(auto &ranks) {
  return ranks | std::views::transform(&Rank::blocks) | std::views::join;
}
/// Returns the operations of all of `ranks`, block after block.
auto opsOf(auto &ranks) {
  return blocksOf(ranks) | std::views::transform(&ThreadBlock::ops) | std::views::join;
}

} // namespace mscclc::ir
