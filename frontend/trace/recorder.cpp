// The functions that the DSL calls. Each appends a record of its call.
#include "frontend/trace/recorder.h"

#include "frontend/eval/arena.h"
#include "frontend/limits.h"
#include "frontend/lower/buffer_sizes.h"
#include "frontend/lower/wide_integer.h"
#include "frontend/trace/note_text.h"
#include "frontend/trace/recording.h"

#include <algorithm>
#include <array>
#include <cstring>

using namespace mscclc;
using namespace mscclc::frontend;
using mscclc::detail::Call;

namespace {

/// The ranks and buffers of the current program.
struct ProgramState {
  std::int64_t ranks = 0;
  BufferSizes sizes{};
  bool isFaulty = false; ///< true if `sizes` are not valid
  bool hasRows = false;  ///< true for a collective of rows
  /// The recorded sizes of each rank; null if all ranks have `sizes`.
  const std::byte *rankSizes = nullptr;
};

constexpr std::size_t collectiveSlots = 256;

/// The state of a recording: counters of handles, and the data that calls return.
struct Recorder {
  bool hasProgram = false;
  std::uint32_t numCollectives = 0, numScratch = 0, numGroups = 0, numChannels = 0, numSwitches = 0, numViews = 0,
                numSemaphores = 0, numHooks = 0, numRefs = 0;
  std::uint64_t numNotes = 0, numFaultyNotes = 0;
  std::uint32_t depth = 0; ///< number of open programs; more than one is an error
  ProgramState program, outer;
  std::array<ProgramState, collectiveSlots> collectives;
};

Recorder r;
Recording recording;
NoteText noteText; // static, because it is too large for an algorithm's stack

PlaceId placeId(const Place *place) {
  return recording.placeId(*place);
}

/// Checks a value of an algorithm. It may come from memory that was never written or is already released.
void checkPoison(std::int64_t value, const Place *place) {
  if (isPoison(value) && recording.setup().onPoison)
    recording.setup().onPoison(recording.shownPlace(*place));
}
void checkPoisonedHandle(std::uint32_t handle, const Place *place) {
  checkPoison(static_cast<std::int32_t>(handle), place);
}

/// Appends `record` and the elements of `array`.
template <typename Record>
void appendList(const Record &record, const detail::IntegerArray &array, const Place *place) {
  recording.append(record, recording.bytesOf(array.size, sizeof(std::int64_t)), [&](std::byte *room) {
    for (std::size_t i = 0; i < array.size; ++i) {
      const std::int64_t value = array[i];
      checkPoison(value, place);
      std::memcpy(room + i * sizeof value, &value, sizeof value);
    }
  });
}

/// Appends `record` and its name.
template <typename Record> void appendNamed(const Record &record, const char *name) {
  recording.append(record, record.nameLength, [&](std::byte *text) {
    if (record.nameLength != 0)
      std::memcpy(text, name, record.nameLength);
  });
}

void appendPair(RecordKind kind, const Place *place, std::int64_t first, std::int64_t second, std::uint8_t flags = 0) {
  checkPoison(first, place);
  checkPoison(second, place);
  recording.append(PairRecord{headOf(kind, placeId(place), flags), first, second});
}

WideInteger wide(detail::Integer value) {
  return {value.bits, value.negative};
}

/// Returns the word for `on` in the record of an operation. A block number that does not fit gets a record of its own.
std::uint32_t onWord(const detail::BlockSet &on, const Place *place) {
  if (on.isGroup)
    return CallRecord::group | (on.group & ~CallRecord::group);
  if (on.block >= 0 && on.block < maxBlocks)
    return static_cast<std::uint32_t>(on.block);
  appendPair(RecordKind::FaultyBlock, place, on.block, 0);
  return CallRecord::faultyBlock;
}

ChunkRecord operand(const Chunk &chunk) {
  const detail::ChunkData &data = detail::Access::data(chunk);
  return {data.buffer, static_cast<std::uint32_t>(data.index), static_cast<std::uint32_t>(data.size), data.place};
}

CallRecord callRecord(Call call, std::uint32_t flags, std::uint32_t handle, const detail::BlockSet &on,
                      const Place *at) {
  checkPoisonedHandle(handle, at);
  const std::uint32_t onBlocks = onWord(on, at);
  CallRecord record{headOf(RecordKind::Call, placeId(at), static_cast<std::uint8_t>(flags)), handle, onBlocks};
  record.head.kind = static_cast<std::uint8_t>(record.head.kind + static_cast<std::uint32_t>(call));
  return record;
}

void put(std::byte *room, std::size_t index, const Chunk &chunk, const Place *place) {
  const ChunkRecord record = operand(chunk);
  checkPoisonedHandle(record.buffer, place);
  std::memcpy(room + index * sizeof record, &record, sizeof record);
}

} // namespace

namespace mscclc::detail {
extern "C" {

std::uint32_t __mscclc_collective(CollectiveKind kind, const char *name, std::size_t nameSize, std::int64_t ranks,
                                  std::int64_t first, std::int64_t second, bool inplace, const Place *place) {
  CollectiveRecord record{headOf(RecordKind::Collective, placeId(place), inplace),
                          static_cast<std::uint32_t>(kind),
                          static_cast<std::uint32_t>(nameSize),
                          ranks,
                          first,
                          second};
  appendNamed(record, name);
  if (r.numCollectives < collectiveSlots) {
    const auto sizes = bufferSizes(collectiveOf(record.kind), ranks, first, second);
    r.collectives[r.numCollectives] = {ranks, sizes.value_or(BufferSizes{maxChunks, maxChunks}), !sizes,
                                       ir::info(collectiveOf(record.kind)).hasRows};
  }
  return r.numCollectives++;
}

void __mscclc_collective_sizes(std::uint32_t collective, const ChunkCounts *sizes, std::size_t count,
                               const Place *place) {
  const CollectiveSizesRecord record{headOf(RecordKind::CollectiveSizes, placeId(place)), collective, 0, count};
  recording.append(record, recording.bytesOf(count, 2 * sizeof(WideInteger)), [&](std::byte *room) {
    for (std::size_t i = 0; i < count; ++i) {
      const WideInteger pair[2] = {wide(sizes[i].input), wide(sizes[i].output)};
      std::memcpy(room + i * sizeof pair, pair, sizeof pair);
    }
    if (collective < collectiveSlots && static_cast<std::int64_t>(count) == r.collectives[collective].ranks)
      r.collectives[collective].rankSizes = room;
  });
}

void __mscclc_then(std::uint32_t collective, const char *name, std::size_t nameSize, const Place *place) {
  appendNamed(ThenRecord{headOf(RecordKind::Then, placeId(place)), collective, static_cast<std::uint32_t>(nameSize)},
              name);
}

void __mscclc_expect(std::uint32_t collective, std::int64_t rank, std::int64_t outputChunk,
                     const Contribution *contributions, std::size_t count, const Place *place) {
  const ExpectationRecord record{
      headOf(RecordKind::Expectation, placeId(place)), collective, 0, rank, outputChunk, count};
  recording.append(record, recording.bytesOf(count, 2 * sizeof(WideInteger)), [&](std::byte *room) {
    for (std::size_t i = 0; i < count; ++i) {
      const WideInteger pair[2] = {wide(contributions[i].rank), wide(contributions[i].chunk)};
      std::memcpy(room + i * sizeof pair, pair, sizeof pair);
    }
  });
}

void __mscclc_program_begin(const char *name, std::size_t nameSize, std::uint32_t collective,
                            const ProgramOptions *options, const Place *place) {
  r.hasProgram = true;
  for (const Tag &tag : options->tags)
    appendNamed(TagRecord{headOf(RecordKind::Tag, placeId(place)), static_cast<std::uint32_t>(tag.name.size()), 0,
                          wide(tag.value)},
                tag.name.data());
  ProgramRecord record{};
  record.head = headOf(RecordKind::ProgramBegin, placeId(place));
  record.collective = collective;
  record.nameLength = static_cast<std::uint32_t>(nameSize);
  record.protocol = static_cast<std::uint8_t>(options->protocol);
  record.fuse = options->fuse;
  record.autoSync = options->autoSync;
  record.replication = static_cast<std::uint8_t>(options->replication);
  record.reuseResources = options->reuseResources;
  record.doubleScratch = options->doubleScratch;
  record.schedule = static_cast<std::uint8_t>(options->schedule);
  record.reassociate = options->reassociate;
  record.order = static_cast<std::uint8_t>(options->order);
  record.latePacketsApart = options->latePacketsApart;
  record.split = options->split;
  record.readyRows = wide(options->readyRows);
  record.oncePerRank = static_cast<std::uint8_t>(!options->oncePerRank.isGiven ? ir::OncePerRank::Automatic
                                                 : options->oncePerRank.flag   ? ir::OncePerRank::On
                                                                               : ir::OncePerRank::Off);
  record.accumulate = static_cast<std::uint8_t>(options->accumulate);
  record.wire = static_cast<std::uint8_t>(options->wire.form);
  record.wireBlock = wide(options->wire.block);
  record.automaticInstances = !options->instances.isGiven;
  record.instances = wide(options->instances.value);
  record.threadsPerBlock = wide(options->threadsPerBlock);
  record.bufferAlignment = wide(options->bufferAlignment);
  record.minMessageSize = wide(options->minMessageSize);
  record.maxMessageSize = wide(options->maxMessageSize);
  record.ranksPerNode = wide(options->ranksPerNode);
  record.blocks = wide(options->blocks);
  appendNamed(record, name);
  if (r.depth++ == 1)
    r.outer = r.program;
  r.program = collective < collectiveSlots && collective < r.numCollectives
                  ? r.collectives[collective]
                  : ProgramState{maxRanks, {maxChunks, maxChunks}};
  if (r.program.isFaulty && recording.setup().onFaultyProgram)
    recording.setup().onFaultyProgram();
}

void __mscclc_program_end() {
  recording.append(headOf(RecordKind::ProgramEnd));
  if (r.depth != 0 && --r.depth == 1)
    r.program = r.outer;
}

std::uint32_t __mscclc_rank(std::int64_t rank, const Place *place) {
  if (r.depth != 0 && rank >= 0 && rank < r.program.ranks && rank < maxRanks)
    return static_cast<std::uint32_t>(rank);
  appendPair(RecordKind::FaultyRank, place, rank, 0);
  return faulty;
}

std::uint32_t __mscclc_rank_buffer(std::uint32_t rank, std::uint32_t type, std::int64_t *size) {
  if (rank >= maxRanks) {
    *size = 0;
    return faulty;
  }
  const bool isInput = type == static_cast<std::uint32_t>(BufferType::Input);
  *size = isInput ? r.program.sizes.input : r.program.sizes.output;
  if (r.program.rankSizes && rank < r.program.ranks) {
    WideInteger pair[2];
    std::memcpy(pair, r.program.rankSizes + rank * sizeof pair, sizeof pair);
    const WideInteger &own = pair[isInput ? 0 : 1];
    *size = inRange(own, 0, static_cast<std::uint64_t>(maxChunks)) ? static_cast<std::int64_t>(own.bits) : maxChunks;
  }
  return BufferHandle::make(rank, type);
}

std::uint32_t __mscclc_scratch(std::int64_t rank, std::int64_t size, const Place *place) {
  appendPair(RecordKind::Scratch, place, rank, size);
  const std::uint32_t handle = r.numScratch++;
  const bool good = r.depth != 0 && rank >= 0 && rank < r.program.ranks && size >= 0 && size <= maxChunks;
  return good ? handle : faulty;
}

void __mscclc_slice(ChunkData *chunk, std::int64_t bufferSize, std::int64_t first, std::int64_t last,
                    const Place *place) {
  if (chunk->buffer != unset && chunk->buffer != faulty && first >= 0 && first < last && last <= bufferSize) {
    chunk->place = placeId(place);
    chunk->index = first;
    chunk->size = last - first;
    return;
  }
  checkPoisonedHandle(chunk->buffer, place);
  checkPoison(first, place);
  checkPoison(last, place);
  if (chunk->buffer != faulty)
    recording.append(SliceRecord{headOf(RecordKind::FaultySlice, placeId(place)), chunk->buffer, 0, first, last});
  chunk->buffer = faulty;
}

void __mscclc_slot(ChunkData *chunk, std::int64_t bufferSize, std::int64_t rank, bool inInput, const Place *place) {
  const bool isSide = chunk->type == static_cast<std::uint8_t>(inInput ? BufferType::Input : BufferType::Output);
  if (chunk->buffer == unset || chunk->buffer == faulty || (isSide && r.program.hasRows)) {
    // After the largest integer, `next` wraps around to a negative one, which is out of range.
    const auto next = static_cast<std::int64_t>(static_cast<std::uint64_t>(rank) + 1);
    __mscclc_slice(chunk, bufferSize, rank, next, place);
    return;
  }
  checkPoison(rank, place);
  const std::uint8_t flags = inInput ? SliceRecord::to : SliceRecord::from;
  recording.append(SliceRecord{headOf(RecordKind::FaultySlice, placeId(place), flags), chunk->buffer, 0, rank, rank});
  chunk->buffer = faulty;
}

std::uint32_t __mscclc_group(const IntegerArray *blocks, const Place *place) {
  appendList(ListRecord{headOf(RecordKind::Group, placeId(place)), blocks->size}, *blocks, place);
  return r.numGroups++;
}

std::uint32_t __mscclc_channel(bool port, bool pair, std::int64_t dst, std::int64_t src, const Place *place) {
  const unsigned flags = (port ? PairRecord::port : 0u) | (pair ? PairRecord::pair : 0u);
  appendPair(RecordKind::Channel, place, dst, src, static_cast<std::uint8_t>(flags));
  const std::uint32_t handle = r.numChannels;
  r.numChannels += pair ? 2 : 1;
  return handle;
}

std::uint32_t __mscclc_switch(const IntegerArray *ranks, std::uint32_t bufferType, const Place *place) {
  appendList(
      ListRecord{headOf(RecordKind::SwitchChannel, placeId(place), static_cast<std::uint8_t>(bufferType)), ranks->size},
      *ranks, place);
  return r.numSwitches++;
}

std::uint32_t __mscclc_at_rank(std::uint32_t switchChannel, std::int64_t rank, const Place *place) {
  checkPoisonedHandle(switchChannel, place);
  appendPair(RecordKind::SwitchView, place, rank, switchChannel);
  return r.numViews++;
}

std::uint32_t __mscclc_semaphore(std::int64_t rank, std::int64_t initialValue, const Place *place) {
  appendPair(RecordKind::Semaphore, place, rank, initialValue);
  return r.numSemaphores++;
}

std::uint32_t __mscclc_hook(const char *name, std::size_t nameSize, const HookOptions *options, const Place *place) {
  const auto sizeOf = [](std::size_t size) { return static_cast<std::uint32_t>(size); };
  appendNamed(HookRecord{headOf(RecordKind::Hook, placeId(place), static_cast<std::uint8_t>(options->granularity)),
                         sizeOf(nameSize), 0, wide(options->block)},
              name);
  const auto append = [&](const Text &text, HookField field) {
    appendNamed(HookTextRecord{headOf(RecordKind::HookText, placeId(place), static_cast<std::uint8_t>(field)),
                               sizeOf(text.size()), 0},
                text.data());
  };
  for (const Text &array : options->reads)
    append(array, HookField::Reads);
  for (const Text &array : options->writes)
    append(array, HookField::Writes);
  for (const Text &array : options->equal)
    append(array, HookField::Equal);
  if (options->function.size() != 0)
    append(options->function, HookField::Function);
  if (options->header.size() != 0)
    append(options->header, HookField::Header);
  return r.numHooks++;
}

void __mscclc_operation(Call call, std::uint32_t flags, std::uint32_t handle, const BlockSet *on, const Chunk *dst,
                        const Chunk *src, const Place *place) {
  CallRecord record = callRecord(call, flags, handle, *on, place);
  if (!dst && frontend::familyOf(call) == CallFamily::Switch) {
    recording.append(SwitchCallRecord{record, 0, 0});
    return;
  }
  if (!dst) {
    recording.append(record);
    return;
  }
  record.head.flags |= RecordHead::hasDst;
  record.head.count = 2;
  recording.append(record, 2 * sizeof(ChunkRecord), [&](std::byte *room) {
    put(room, 0, *dst, place);
    put(room, 1, *src, place);
  });
}

void __mscclc_reduce(Call call, std::uint32_t flags, std::uint32_t handle, const BlockSet *on, const Chunk *dst,
                     const Chunk *src, const Chunk *others, std::size_t numOthers, const Place *place) {
  CallRecord record = callRecord(call, flags, handle, *on, place);
  const bool hasDst = Access::data(*dst).buffer != unset;
  if (hasDst)
    record.head.flags |= RecordHead::hasDst;
  const std::size_t count = numOthers + 1 + hasDst;
  if (count > 0xffff) {
    record.head.flags |= RecordHead::tooMany;
    recording.append(record);
    return;
  }
  record.head.count = static_cast<std::uint16_t>(count);
  recording.append(record, count * sizeof(ChunkRecord), [&](std::byte *room) {
    if (hasDst)
      put(room, 0, *dst, place);
    put(room, hasDst, *src, place);
    for (std::size_t i = 0; i < numOthers; ++i)
      put(room, hasDst + 1 + i, others[i], place);
  });
}

void __mscclc_switch_operation(Call call, std::uint32_t flags, std::uint32_t handle, const BlockSet *on,
                               const Chunk *chunk, std::int64_t offset, std::int64_t size, const Place *place) {
  SwitchCallRecord record{callRecord(call, flags, handle, *on, place), offset, size};
  record.call.head.count = 1;
  recording.append(record, sizeof(ChunkRecord), [&](std::byte *room) { put(room, 0, *chunk, place); });
}

void __mscclc_move(Call call, std::uint32_t hook, const MoveOptions *options, const Chunk *dsts, std::size_t numDsts,
                   const Chunk *first, const Chunk *others, std::size_t numOthers, const Place *place) {
  const std::uint32_t op = std::min(static_cast<std::uint32_t>(options->op), CallFlags::opMask);
  MoveRecord record{};
  checkPoison(static_cast<std::int64_t>(options->by.value.bits), place);
  record.call = callRecord(call, op << CallFlags::opShift, hook, {options->on.block.id, unset, false}, place);
  if (!options->on.isGiven)
    record.call.on = CallRecord::noBlock;
  record.via = static_cast<std::uint8_t>(options->via);
  record.packets = options->packets.isGiven;
  record.inPackets = options->packets.flag;
  record.by = options->by.isGiven;
  record.rank = wide(options->by.value);
  const std::size_t count = numDsts + 1 + numOthers;
  if (std::max({numDsts, numOthers, count}) > 0xffff) {
    record.call.head.flags |= RecordHead::tooMany;
    recording.append(record);
    return;
  }
  record.call.head.count = static_cast<std::uint16_t>(count);
  record.numDsts = static_cast<std::uint32_t>(numDsts);
  recording.append(record, count * sizeof(ChunkRecord), [&](std::byte *room) {
    for (std::size_t i = 0; i < numDsts; ++i)
      put(room, i, dsts[i], place);
    put(room, numDsts, *first, place);
    for (std::size_t i = 0; i < numOthers; ++i)
      put(room, numDsts + 1 + i, others[i], place);
  });
}

std::uint32_t __mscclc_ref(const RefData *ref, const Place *place) {
  for (const std::int64_t value : {ref->rank, ref->index, ref->size})
    checkPoison(value, place);
  recording.append(RefRecord{headOf(RecordKind::Ref, placeId(place), ref->type), ref->rank, ref->index, ref->size});
  return r.numRefs++;
}

std::uint32_t __mscclc_ref_call(Call call, std::uint32_t flags, const ChunkOptions *options, const RefData *ref,
                                const RefData *other, const Place *place) {
  checkPoisonedHandle(other->handle, place);
  for (const std::int64_t value : {other->rank, other->index})
    checkPoison(value, place);
  RefCallRecord record{};
  record.call = callRecord(call, flags, ref->handle, {0, unset, false}, place);
  record.call.on = other->handle;
  record.buffer = other->type;
  record.hasChannel = options->channel.isGiven;
  record.channel = static_cast<std::uint8_t>(options->channel.type);
  record.hasSendBlock = options->sendtb.isGiven;
  record.hasRecvBlock = options->recvtb.isGiven;
  record.rank = other->rank;
  record.index = other->index;
  record.sendBlock = wide(options->sendtb.value);
  record.recvBlock = wide(options->recvtb.value);
  recording.append(record);
  return r.numRefs++;
}

void __mscclc_barrier(std::uint32_t rank, const IntegerArray *blocks, const Place *place) {
  appendList(BarrierRecord{callRecord(Call::Barrier, 0, rank, {0, unset, false}, place), blocks->size}, *blocks, place);
}

void __mscclc_loop_begin(std::int64_t unit, std::int64_t numChunks, const Place *place) {
  appendPair(RecordKind::LoopBegin, place, unit, numChunks);
}

void __mscclc_loop_end() {
  recording.append(headOf(RecordKind::LoopEnd));
}

void __mscclc_note(const NoteFormat *format, const NoteArgument *arguments, std::size_t count) {
  const Place *place = &format->place;
  NoteText &note = noteText;
  note.write(*format, {arguments, count}, checkPoison);
  if (++(note.fault() == NoteFault::None ? r.numNotes : r.numFaultyNotes) > maxNotes + 1)
    return;
  NoteRecord record{headOf(RecordKind::Note, placeId(place), static_cast<std::uint8_t>(note.fault())),
                    static_cast<std::uint32_t>(note.text().size()), note.numPlaces(),
                    static_cast<std::uint32_t>(std::min<std::size_t>(count, ~std::uint32_t{0})), 0};
  recording.append(record, note.text().size(),
                   [&](std::byte *room) { std::memcpy(room, note.text().data(), note.text().size()); });
}

} // extern "C"
} // namespace mscclc::detail

namespace mscclc::frontend {

void startRecording(std::span<std::byte> region, const RecordingSetup &setup) {
  r = {};
  recording.start(region, setup);
}

bool hasRecordedProgram() {
  return r.hasProgram;
}

std::size_t finishRecording() {
  r = {};
  return recording.finish();
}

std::span<const HostSymbol> recorderSymbols() {
#define SYMBOL(name)                                                                                                   \
  {                                                                                                                    \
    #name, reinterpret_cast<void *>(&name)                                                                             \
  }
  using namespace mscclc::detail;
  static const HostSymbol symbols[] = {
      SYMBOL(__mscclc_call_stack),  SYMBOL(__mscclc_collective),
      SYMBOL(__mscclc_expect),      SYMBOL(__mscclc_program_begin),
      SYMBOL(__mscclc_program_end), SYMBOL(__mscclc_rank),
      SYMBOL(__mscclc_rank_buffer), SYMBOL(__mscclc_scratch),
      SYMBOL(__mscclc_slice),       SYMBOL(__mscclc_slot),
      SYMBOL(__mscclc_group),       SYMBOL(__mscclc_channel),
      SYMBOL(__mscclc_switch),      SYMBOL(__mscclc_at_rank),
      SYMBOL(__mscclc_semaphore),   SYMBOL(__mscclc_operation),
      SYMBOL(__mscclc_reduce),      SYMBOL(__mscclc_switch_operation),
      SYMBOL(__mscclc_barrier),     SYMBOL(__mscclc_move),
      SYMBOL(__mscclc_loop_begin),  SYMBOL(__mscclc_loop_end),
      SYMBOL(__mscclc_ref),         SYMBOL(__mscclc_ref_call),
      SYMBOL(__mscclc_note),        SYMBOL(__mscclc_collective_sizes),
      SYMBOL(__mscclc_then),        SYMBOL(__mscclc_hook),
  };
#undef SYMBOL
  return symbols;
}

} // namespace mscclc::frontend
