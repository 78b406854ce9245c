// The recording of an algorithm's run: a header and a sequence of records, flat and relocatable.
//
// A record begins with its RecordHead, and its length is a multiple of eight bytes. The length follows from the kind
// and the count. Handles are indices among the records of one kind, from 0. The bytes come from a process that runs
// foreign code, so a reader trusts none of them (trace_reader.h).
#pragma once

#include "frontend/trace/calls.h"
#include "frontend/trace/record_abi.h"

#include <cstdint>

namespace mscclc::frontend {

struct TraceHeader {
  static constexpr std::uint64_t expectedMagic = 0x3165636172742d6d; // "m-trace1"
  std::uint64_t magic;
  std::uint64_t size; ///< bytes of this header and all whole records; kept up to date while recording
  std::uint32_t full; ///< 1 if records are missing because there was no room
  std::uint32_t reserved;
};

enum class RecordKind : std::uint8_t {
  File,
  CallChain,
  Place,
  Collective,
  CollectiveSizes,
  Expectation,
  Then, ///< the promise of a hook for a collective
  Tag,  ///< a tag of the program that begins next
  ProgramBegin,
  ProgramEnd,
  FaultyRank,
  FaultySlice,
  Scratch,
  Group,
  Channel,
  SwitchChannel,
  SwitchView,
  Semaphore,
  Hook,
  HookText, ///< an array, the function or the header of the last recorded hook
  LoopBegin,
  LoopEnd,
  FaultyBlock,
  Ref,
  Note,
  Call, ///< this and all further values are calls: Call plus a detail::Call
};

/// Number of a Place record, from 1; 0: no place.
using PlaceId = std::uint32_t;

struct RecordHead {
  std::uint8_t kind;
  std::uint8_t flags;  ///< for a call: detail::CallFlags and hasDst
  std::uint16_t count; ///< for a call: number of chunk operands
  PlaceId place;

  static constexpr std::uint8_t hasDst = 1 << 6;
  static constexpr std::uint8_t tooMany = 1 << 7; ///< more operands than fit in `count`; none are recorded
  static_assert(detail::CallFlags::opMask << detail::CallFlags::opShift < hasDst,
                "flags of a call have bits of their own");
};

struct FileRecord {
  RecordHead head;
  std::uint64_t length; ///< bytes of the path that follows
};

/// A chain of call sites. Chains are numbered from 1; 0 is the algorithm itself.
struct CallChainRecord {
  RecordHead head;
  std::uint32_t parent; ///< number of the chain without its last site
  std::uint32_t site;   ///< the last site: index into the call sites of the instrumented code
};

struct PlaceRecord {
  RecordHead head;
  std::uint32_t file; ///< index of a File record
  std::uint32_t line;
  std::uint32_t column;
  std::uint32_t chain;
};

struct CollectiveRecord {
  RecordHead head; ///< flags: 1 if in place
  std::uint32_t kind;
  std::uint32_t nameLength; ///< bytes of the name that follows
  std::int64_t ranks, first, second;
};

/// An integer of any type: its 64 bits, and 1 if it is negative.
struct WideInteger {
  std::uint64_t bits;
  std::uint64_t negative;
};

/// The sizes of a collective's buffers, if they differ between ranks.
struct CollectiveSizesRecord {
  RecordHead head;
  std::uint32_t collective;
  std::uint32_t reserved;
  std::uint64_t count; ///< number of pairs of WideInteger (input, output) that follow, one for each rank
};

struct ExpectationRecord {
  RecordHead head;
  std::uint32_t collective;
  std::uint32_t reserved;
  std::int64_t rank, outputChunk;
  std::uint64_t count; ///< number of pairs of WideInteger (rank, chunk) that follow
};

struct ThenRecord {
  RecordHead head;
  std::uint32_t collective;
  std::uint32_t nameLength; ///< bytes of the hook's name that follows
};

struct HookRecord {
  RecordHead head;          ///< flags: the Granularity
  std::uint32_t nameLength; ///< bytes of the name that follows
  std::uint32_t reserved;
  WideInteger block;
};

/// The meaning of a text that belongs to a hook: an array in one of its lists, the device function, or its header.
enum class HookField : std::uint8_t { Reads, Writes, Equal, Function, Header };

struct HookTextRecord {
  RecordHead head;          ///< flags: the HookField
  std::uint32_t nameLength; ///< bytes of the text that follows
  std::uint32_t reserved;
};

struct TagRecord {
  RecordHead head;
  std::uint32_t nameLength; ///< bytes of the name that follows
  std::uint32_t reserved;
  WideInteger value;
};

struct ProgramRecord {
  RecordHead head;
  std::uint32_t collective;
  std::uint32_t nameLength; ///< bytes of the name that follows
  std::uint8_t protocol, fuse, autoSync, replication, reuseResources, doubleScratch, schedule, reassociate;
  std::uint8_t automaticInstances, latePacketsApart, order, accumulate, wire, split, oncePerRank, reserved;
  WideInteger instances, threadsPerBlock, bufferAlignment, minMessageSize, maxMessageSize, ranksPerNode, blocks;
  WideInteger wireBlock, readyRows;
};

/// A record with two numbers. They describe a new object or a loop, or a rank or thread block that is out of range.
struct PairRecord {
  RecordHead head;     ///< Channel: flags are `port` and `pair`
  std::int64_t first;  ///< rank or block; Channel: destination rank; LoopBegin: unit; SwitchView: rank
  std::int64_t second; ///< Scratch: size; Channel: source rank; Semaphore: initial value; LoopBegin: iterations;
                       ///< SwitchView: handle of the switch channel

  static constexpr std::uint8_t port = 1 << 0; ///< the channel is a port channel
  static constexpr std::uint8_t pair = 1 << 1; ///< two channels are made: to the destination, and back
};

struct SliceRecord {
  RecordHead head; ///< flags: `to` or `from` if this call named a slot of a buffer without slots; 0: other faults
  std::uint32_t buffer;
  std::uint32_t reserved;
  std::int64_t first, last;

  static constexpr std::uint8_t to = 1, from = 2;
};

/// A fault in the text of a note.
enum class NoteFault : std::uint8_t {
  None,
  Count, ///< the text has more or fewer places for arguments than there are arguments
  Brace, ///< a brace that is neither doubled nor part of {}
};

/// The most notes of an algorithm that are shown. If there are more, one more is recorded as a sign. A loop may make
/// any number of notes.
inline constexpr std::uint32_t maxNotes = 1000;

/// A note().
struct NoteRecord {
  RecordHead head;         ///< flags: the NoteFault
  std::uint32_t length;    ///< bytes of the text that follows
  std::uint32_t places;    ///< number of places for arguments in the text
  std::uint32_t arguments; ///< number of the note's arguments
  std::uint32_t reserved;
};

/// The thread blocks of a group, or the ranks of a switch channel.
struct ListRecord {
  RecordHead head;     ///< SwitchChannel: the flags are the BufferType
  std::uint64_t count; ///< number of std::int64_t that follow
};

/// A chunk operand. `index` and `size` are inside the buffer, unless foreign code has changed the record.
struct ChunkRecord {
  std::uint32_t buffer; ///< handle of the buffer; see BufferHandle
  std::uint32_t index;
  std::uint32_t size;
  PlaceId place;
};

/// Handle of a buffer: the number of a scratch buffer, or a rank's input or output.
struct BufferHandle {
  static constexpr std::uint32_t ofRank = 1u << 31;
  static constexpr std::uint32_t make(std::uint32_t rank, std::uint32_t type) { return ofRank | rank << 1 | type; }
};

/// An operation, followed by `head.count` ChunkRecords: the destination if there is one (hasDst), then sources.
struct CallRecord {
  RecordHead head;
  std::uint32_t handle; ///< handle of a rank, channel, semaphore, hook or switch view
  std::uint32_t on;     ///< number of a thread block, or handle of a group if `group` is set

  static constexpr std::uint32_t group = 1u << 31;
  static constexpr std::uint32_t faultyBlock = group - 1;
  static constexpr std::uint32_t noBlock = group - 2; ///< the value of `on` for a movement statement without a block
};

/// A CallRecord of a switch channel, followed by one ChunkRecord.
struct SwitchCallRecord {
  CallRecord call;
  std::int64_t offset, size;
};

/// A movement statement: a CallRecord whose `handle` is the hook of an apply, followed by `head.count` ChunkRecords,
/// destinations first.
struct MoveRecord {
  CallRecord call;
  std::uint32_t numDsts;
  std::uint8_t via;         ///< mscclc::Via
  std::uint8_t packets, by; ///< `packets`: 1 if `inPackets` is chosen; `by`: 1 if `rank` is chosen
  std::uint8_t inPackets;   ///< 1 if data travels in packets
  WideInteger rank;         ///< the rank that executes the statement
};

/// A new ref. Refs are numbered in the order of these records and RefCallRecords.
struct RefRecord {
  RecordHead head; ///< flags: the BufferType
  std::int64_t rank, index, size;
};

/// A call on a ref: a CallRecord whose `handle` is the ref, and whose `on` is the other ref of a reduction.
struct RefCallRecord {
  CallRecord call;
  std::uint8_t buffer;                                ///< buffer of the chunks at the other end: mscclc::BufferType
  std::uint8_t hasChannel, channel;                   ///< `hasChannel`: 1 if `channel`, a mscclc::ChannelType, is given
  std::uint8_t hasSendBlock, hasRecvBlock, unused[3]; ///< 1 if the thread block is given
  std::int64_t rank, index;                           ///< rank and index of the chunks at the other end
  WideInteger sendBlock, recvBlock;
};

/// A barrier: a CallRecord whose `on` is unused, followed by the blocks.
struct BarrierRecord {
  CallRecord call;
  std::uint64_t count; ///< number of std::int64_t that follow
};

} // namespace mscclc::frontend
