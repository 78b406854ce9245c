// The recording of an algorithm's run: a header and a sequence of records, flat and relocatable.
//
// A record begins with its RecordHead and is a multiple of eight bytes long; its length follows from its kind and its
// count. Handles count what records of their kind make, from 0. The bytes come from a process that runs foreign code,
// so a reader trusts none of them (trace_reader.h).
#pragma once

#include "frontend/trace/calls.h"
#include "frontend/trace/record_abi.h"

#include <cstdint>

namespace mscclc::frontend {

struct TraceHeader {
  static constexpr std::uint64_t expectedMagic = 0x3165636172742d6d; // "m-trace1"
  std::uint64_t magic;
  std::uint64_t size; ///< of this header and all whole records, in bytes; kept up to date while recording
  std::uint32_t full; ///< 1 if something was left out for want of room
  std::uint32_t reserved;
};

enum class RecordKind : std::uint8_t {
  File,
  CallChain,
  Place,
  Collective,
  CollectiveSizes,
  Expectation,
  Tag, ///< of the program that begins next
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
  LoopBegin,
  LoopEnd,
  FaultyBlock,
  Ref,
  Note,
  Call, ///< this and the following values: Call + detail::Call
};

/// Index of a Place record counted from 1; 0: none.
using PlaceId = std::uint32_t;

struct RecordHead {
  std::uint8_t kind;
  std::uint8_t flags;  ///< of a call: detail::CallFlags, and hasDst
  std::uint16_t count; ///< of a call: chunk operands
  PlaceId place;

  static constexpr std::uint8_t hasDst = 1 << 6;
  static constexpr std::uint8_t tooMany = 1 << 7; ///< more operands than `count` can tell; none are kept
  static_assert(detail::CallFlags::opMask << detail::CallFlags::opShift < hasDst,
                "flags of a call have bits of their own");
};

struct FileRecord {
  RecordHead head;
  std::uint64_t length; ///< of the path, which follows
};

/// A chain of call sites, indexed from 1; 0 is the algorithm itself.
struct CallChainRecord {
  RecordHead head;
  std::uint32_t parent; ///< the chain without its last site
  std::uint32_t site;   ///< last site: index into the call sites of the instrumented code
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
  std::uint32_t nameLength; ///< the name follows
  std::int64_t ranks, first, second;
};

/// An integer that may be anything: its 64 bits, and whether they are negative.
struct WideInteger {
  std::uint64_t bits;
  std::uint64_t negative;
};

/// Of a collective whose ranks have buffers of different sizes.
struct CollectiveSizesRecord {
  RecordHead head;
  std::uint32_t collective;
  std::uint32_t reserved;
  std::uint64_t count; ///< pairs of WideInteger (input, output) that follow, one for each rank
};

struct ExpectationRecord {
  RecordHead head;
  std::uint32_t collective;
  std::uint32_t reserved;
  std::int64_t rank, outputChunk;
  std::uint64_t count; ///< pairs of WideInteger (rank, chunk) that follow
};

struct TagRecord {
  RecordHead head;
  std::uint32_t nameLength; ///< the name follows
  std::uint32_t reserved;
  WideInteger value;
};

struct ProgramRecord {
  RecordHead head;
  std::uint32_t collective;
  std::uint32_t nameLength; ///< the name follows
  std::uint8_t protocol, fuse, autoSync, replication, reuseResources, doubleScratch, schedule, reassociate;
  std::uint8_t automaticInstances, latePacketsApart, reserved[6];
  WideInteger instances, threadsPerBlock, bufferAlignment, minMessageSize, maxMessageSize, ranksPerNode, blocks;
};

/// A rank or thread block that is out of range, or a rank's, channel's or semaphore's two numbers.
struct PairRecord {
  RecordHead head;     ///< Channel: flags are `port` and `pair`
  std::int64_t first;  ///< rank or block; Channel: destination rank; LoopBegin: unit; SwitchView: rank
  std::int64_t second; ///< Scratch: size; Channel: source rank; Semaphore: initial value; LoopBegin: iterations;
                       ///< SwitchView: handle of the switch channel

  static constexpr std::uint8_t port = 1 << 0; ///< a port channel
  static constexpr std::uint8_t pair = 1 << 1; ///< two channels: this one, and the one back
};

struct SliceRecord {
  RecordHead head;
  std::uint32_t buffer;
  std::uint32_t reserved;
  std::int64_t first, last;
};

/// What is wrong with the text of a note.
enum class NoteFault : std::uint8_t {
  None,
  Count, ///< it has not as many places for arguments as it has arguments
  Brace, ///< a brace that neither is doubled nor belongs to {}
};

/// Notes of an algorithm that are shown. One more is recorded, which tells that there are more; a loop may make them
/// without end.
inline constexpr std::uint32_t maxNotes = 1000;

/// What note() prints.
struct NoteRecord {
  RecordHead head;         ///< flags are the NoteFault
  std::uint32_t length;    ///< of the text, which follows
  std::uint32_t places;    ///< for arguments in the text
  std::uint32_t arguments; ///< that it was given
  std::uint32_t reserved;
};

/// Thread blocks of a group, ranks of a switch channel.
struct ListRecord {
  RecordHead head;     ///< SwitchChannel: flags are the BufferType
  std::uint64_t count; ///< std::int64_t that follow
};

/// A chunk operand. `index` and `size` lie inside the buffer if the recorder was left in peace.
struct ChunkRecord {
  std::uint32_t buffer; ///< handle: see BufferHandle
  std::uint32_t index;
  std::uint32_t size;
  PlaceId place;
};

/// Handle of a buffer: a scratch buffer by number, or a rank's input or output.
struct BufferHandle {
  static constexpr std::uint32_t ofRank = 1u << 31;
  static constexpr std::uint32_t make(std::uint32_t rank, std::uint32_t type) { return ofRank | rank << 1 | type; }
};

/// An operation, followed by `head.count` ChunkRecords: destination first where there is one (hasDst), then sources.
struct CallRecord {
  RecordHead head;
  std::uint32_t handle; ///< rank, channel, semaphore or switch view
  std::uint32_t on;     ///< thread block, or group with `group` set

  static constexpr std::uint32_t group = 1u << 31;
  static constexpr std::uint32_t faultyBlock = group - 1;
  static constexpr std::uint32_t noBlock = group - 2; ///< of a movement statement that leaves it open
};

/// A CallRecord of a switch channel, followed by one ChunkRecord.
struct SwitchCallRecord {
  CallRecord call;
  std::int64_t offset, size;
};

/// A movement statement: a CallRecord whose `handle` is unused, followed by `head.count` ChunkRecords, destinations
/// first.
struct MoveRecord {
  CallRecord call;
  std::uint32_t numDsts;
  std::uint8_t via;         ///< mscclc::Via
  std::uint8_t packets, by; ///< 1 if given: whether data travels in packets, and who executes the statement
  std::uint8_t inPackets;
  WideInteger rank; ///< that executes it
};

/// A ref that is taken. It and each RefCallRecord have the next number of a ref.
struct RefRecord {
  RecordHead head; ///< flags: the BufferType
  std::int64_t rank, index, size;
};

/// A call on a ref: a CallRecord whose `handle` is the ref, and whose `on` is the other ref of a reduction.
struct RefCallRecord {
  CallRecord call;
  std::uint8_t buffer;                                ///< of the chunks at the other end: mscclc::BufferType
  std::uint8_t hasChannel, channel;                   ///< if given: mscclc::ChannelType
  std::uint8_t hasSendBlock, hasRecvBlock, unused[3]; ///< 1 if given
  std::int64_t rank, index;                           ///< of the chunks at the other end
  WideInteger sendBlock, recvBlock;
};

/// A barrier: a CallRecord whose `on` is unused, followed by the blocks.
struct BarrierRecord {
  CallRecord call;
  std::uint64_t count; ///< std::int64_t that follow
};

} // namespace mscclc::frontend
