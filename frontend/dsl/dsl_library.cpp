// The functions that the DSL's headers declare. Each calls functions that record (detail/record.hpp).
//
// They are compiled with the front end and not with each algorithm, which saves time in each compilation. Algorithms
// find them by name (dsl.exports lists the names for the linker). They run inside the sandbox.
#include "frontend/dsl/dsl_library.h"

#include "frontend/trace/calls.h"
#include "frontend/trace/record_abi.h"
#include "ir/collectives.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>

#include <dlfcn.h>

namespace mscclc {
namespace detail {

namespace {

constexpr std::uint32_t flagsOf(Sync sync, bool relaxed = false) {
  return static_cast<std::uint32_t>(sync) | (relaxed ? CallFlags::relaxed : 0);
}
constexpr std::uint32_t flagsOf(ReduceOp op, bool packet = false) {
  return std::min(static_cast<std::uint32_t>(op), CallFlags::opMask) << CallFlags::opShift |
         (packet ? CallFlags::packet : 0);
}

/// Returns the handle of the rank that executes an operation on these chunks. One of the chunks may be unset or faulty.
std::uint32_t rankOf(const Chunk &first, const Chunk &second) {
  for (const Chunk *chunk : {&first, &second})
    if (const ChunkData &data = Access::data(*chunk); data.buffer != unset && data.buffer != faulty)
      return static_cast<std::uint32_t>(data.rank);
  return Access::data(first).buffer;
}

void move(Call call, std::uint32_t handle, const Chunk &dst, const Chunk &src, const On &on, const Place &at) {
  __mscclc_operation(call, 0, handle, Access::set(on), &dst, &src, &at);
}
void moveLocal(Call call, const Chunk &dst, const Chunk &src, const On &on, const Place &at) {
  move(call, rankOf(dst, src), dst, src, on, at);
}
void sync(Call call, std::uint32_t flags, std::uint32_t handle, const On &on, const Place &at) {
  __mscclc_operation(call, flags, handle, Access::set(on), nullptr, nullptr, &at);
}

void statement(Call call, const MoveOptions &options, std::span<const Chunk> dsts, const Chunk &first,
               std::span<const Chunk> others, const Place &at, std::uint32_t hook = 0) {
  __mscclc_move(call, hook, &options, dsts.data(), dsts.size(), &first, others.data(), others.size(), &at);
}
std::span<const Chunk> spanOf(const ChunkList &list) {
  return {list.data(), list.size()};
}

/// Records a call on `ref`, whose other end is `other`. Returns a ref of the chunks `made`.
ChunkRef callRef(Call call, std::uint32_t flags, const ChunkOptions &options, const RefData &ref, const RefData &other,
                 const RefData &made, const Place &at) {
  ChunkRef result;
  RefData &data = Access::data(result);
  data = made;
  data.size = ref.size;
  data.handle = __mscclc_ref_call(call, flags, &options, &ref, &other, &at);
  return result;
}
RefData placeOf(std::int64_t rank, BufferType buffer, std::int64_t index) {
  RefData place;
  place.type = static_cast<std::uint8_t>(buffer);
  place.rank = rank;
  place.index = index;
  return place;
}
/// Records a call that moves the chunks of `ref` to `dst`.
ChunkRef send(Call call, const ChunkOptions &options, const ChunkRef &ref, const RefData &dst, const Place &at) {
  return callRef(call, 0, options, Access::data(ref), dst, dst, at);
}
/// Records a call that does not move the chunks of `ref`. It may overwrite them.
ChunkRef stay(Call call, const ChunkOptions &options, const ChunkRef &ref, const RefData &other, const Place &at) {
  return callRef(call, 0, options, Access::data(ref), other, Access::data(ref), at);
}
ChunkRef reduceRefs(Call call, const ChunkReduceOptions &options, const ChunkRef &ref, const ChunkRef &other,
                    const Place &at) {
  return callRef(call, flagsOf(options.op), {options.sendtb, options.recvtb, options.channel}, Access::data(ref),
                 Access::data(other), Access::data(ref), at);
}

constexpr CollectiveKind recorded(ir::CollectiveKind kind) {
  return static_cast<CollectiveKind>(kind);
}

} // namespace

PlacedIndex::PlacedIndex(int v, Place at) : value(v), place(at) {}
PlacedIndex::PlacedIndex(long v, Place at) : value(v), place(at) {}
PlacedIndex::PlacedIndex(long long v, Place at) : value(v), place(at) {}
PlacedIndex::PlacedIndex(unsigned v, Place at) : value(v), place(at) {}
PlacedIndex::PlacedIndex(unsigned long v, Place at) : value(static_cast<std::int64_t>(v)), place(at) {}
PlacedIndex::PlacedIndex(unsigned long long v, Place at) : value(static_cast<std::int64_t>(v)), place(at) {}

Text::Text(const char *text) : data_(text), size_(text ? std::strlen(text) : 0) {}

std::int64_t IntegerArray::operator[](std::size_t index) const {
  std::uint64_t bits = 0;
  std::memcpy(&bits, static_cast<const char *>(data) + index * width, width); // little-endian: the low bytes come first
  const unsigned unused = 64 - 8 * width;
  if (isSigned)
    return static_cast<std::int64_t>(bits << unused) >> unused;
  return static_cast<std::int64_t>(bits);
}
IntegerArray integers(const ListedInteger *data, std::size_t size) {
  static_assert(sizeof(ListedInteger) == sizeof(std::int64_t));
  return {data, size, sizeof(std::int64_t), true};
}
#define INTEGERS(T)                                                                                                    \
  IntegerArray integers(const T *data, std::size_t size) {                                                             \
    return {data, size, sizeof(T), std::is_signed_v<T>};                                                               \
  }
INTEGERS(signed char)
INTEGERS(unsigned char)
INTEGERS(short)
INTEGERS(unsigned short)
INTEGERS(int)
INTEGERS(unsigned)
INTEGERS(long)
INTEGERS(unsigned long)
INTEGERS(long long)
INTEGERS(unsigned long long)
#undef INTEGERS
IntegerList::IntegerList(std::initializer_list<ListedInteger> list) : array_(integers(list.begin(), list.size())) {}

// GCC warns about a member that points into an initializer list. These lists live as long as the call.
template <typename Element>
ElementList<Element>::ElementList(std::initializer_list<Element> list) : data_(std::data(list)), size_(list.size()) {}
template class ElementList<Chunk>;
template class ElementList<ChunkCounts>;
template class ElementList<Contribution>;

PointToPoint::PointToPoint(bool port, std::int64_t dst, std::int64_t src, const Place &at)
    : handle_(__mscclc_channel(port, false, dst, src, &at)), dst_(dst), src_(src) {}
void PointToPoint::join(bool port, std::int64_t a, std::int64_t b, PointToPoint &ab, PointToPoint &ba,
                        const Place &at) {
  ab.handle_ = __mscclc_channel(port, true, b, a, &at);
  ba.handle_ = ab.handle_ + 1;
  ab.src_ = ba.dst_ = a;
  ab.dst_ = ba.src_ = b;
}

} // namespace detail

using detail::Access;
using detail::Call;
using detail::CollectiveKind;
using detail::flagsOf;

Buffer::Buffer(std::int64_t rank, std::int64_t size, Place at)
    : handle_(detail::__mscclc_scratch(rank, size, &at)), rank_(static_cast<std::int32_t>(rank)), size_(size) {}
Chunk Buffer::unsliced() const {
  Chunk chunk;
  detail::ChunkData &data = Access::data(chunk);
  data.buffer = handle_;
  data.rank = rank_;
  data.type = static_cast<std::uint8_t>(type_);
  return chunk;
}
Chunk Buffer::slice(std::int64_t first, std::int64_t last, Place at) const {
  Chunk chunk = unsliced();
  detail::__mscclc_slice(&Access::data(chunk), size_, first, last, &at);
  return chunk;
}
Chunk Buffer::to(detail::PlacedIndex dst) const {
  Chunk chunk = unsliced();
  detail::__mscclc_slot(&Access::data(chunk), size_, dst.value, true, &dst.place);
  return chunk;
}
Chunk Buffer::from(detail::PlacedIndex src) const {
  Chunk chunk = unsliced();
  detail::__mscclc_slot(&Access::data(chunk), size_, src.value, false, &src.place);
  return chunk;
}
Chunk Buffer::slice(std::int64_t first, Place at) const {
  return slice(first, size_, at);
}
Chunk Buffer::operator[](detail::PlacedIndex index) const {
  // After the largest integer, `next` wraps around to a negative one, which is out of range.
  const auto next = static_cast<std::int64_t>(static_cast<std::uint64_t>(index.value) + 1);
  return slice(index.value, next, index.place);
}

ThreadBlockGroup::ThreadBlockGroup(std::initializer_list<detail::ListedInteger> blocks, Place at)
    : ThreadBlockGroup(detail::IntegerList(blocks), at) {}
ThreadBlockGroup::ThreadBlockGroup(detail::IntegerList blocks, Place at)
    : handle_(detail::__mscclc_group(&blocks.array(), &at)), size_(blocks.array().size) {}

On::On(ThreadBlock block) : set_{block.id, detail::unset, false} {}
On::On(const ThreadBlockGroup &group) : set_{0, group.handle_, true} {}

Rank::Rank(std::int64_t id, Place at) : id_(id), handle_(detail::__mscclc_rank(id, &at)) {}
Buffer Rank::buffer(BufferType type) const {
  Buffer made;
  made.handle_ = detail::__mscclc_rank_buffer(handle_, static_cast<std::uint32_t>(type), &made.size_);
  made.rank_ = static_cast<std::int32_t>(id_);
  made.type_ = type;
  return made;
}
Buffer Rank::input() const {
  return buffer(BufferType::Input);
}
Buffer Rank::output() const {
  return buffer(BufferType::Output);
}
void Rank::copy(const Chunk &dst, const Chunk &src, On on, Place at) const {
  detail::move(Call::Copy, handle_, dst, src, on, at);
}
void Rank::copyPackets(const Chunk &dst, const Chunk &src, On on, Place at) const {
  detail::move(Call::CopyPackets, handle_, dst, src, on, at);
}
void Rank::unpackPackets(const Chunk &dst, const Chunk &src, On on, Place at) const {
  detail::move(Call::UnpackPackets, handle_, dst, src, on, at);
}
void Rank::reduce(const Chunk &src, ChunkList others, On on, const ReduceOptions &options, Place at) const {
  detail::__mscclc_reduce(Call::Reduce, flagsOf(options.op, options.packet), handle_, Access::set(on), &options.dst,
                          &src, others.data(), others.size(), &at);
}
void Rank::barrier(detail::IntegerList blocks, Place at) const {
  detail::__mscclc_barrier(handle_, &blocks.array(), &at);
}

void copy(const Chunk &dst, const Chunk &src, ThreadBlock on, Place at) {
  detail::moveLocal(Call::Copy, dst, src, on, at);
}
void copy(const Chunk &dst, const Chunk &src, const ThreadBlockGroup &on, Place at) {
  detail::moveLocal(Call::Copy, dst, src, on, at);
}
void copy(const Chunk &dst, const Chunk &src, const On &on, Place at) {
  detail::moveLocal(Call::Copy, dst, src, on, at);
}
void copyPackets(const Chunk &dst, const Chunk &src, On on, Place at) {
  detail::moveLocal(Call::CopyPackets, dst, src, on, at);
}
void unpackPackets(const Chunk &dst, const Chunk &src, On on, Place at) {
  detail::moveLocal(Call::UnpackPackets, dst, src, on, at);
}
void reduce(const Chunk &src, ChunkList others, const On &on, const ReduceOptions &options, Place at) {
  detail::__mscclc_reduce(Call::Reduce, flagsOf(options.op, options.packet), detail::rankOf(src, options.dst),
                          Access::set(on), &options.dst, &src, others.data(), others.size(), &at);
}
void reduce(const Chunk &src, std::initializer_list<Chunk> others, ThreadBlock on, const ReduceOptions &options,
            Place at) {
  reduce(src, ChunkList(others), On(on), options, at);
}
void reduce(const Chunk &src, std::initializer_list<Chunk> others, const ThreadBlockGroup &on,
            const ReduceOptions &options, Place at) {
  reduce(src, ChunkList(others), On(on), options, at);
}

void copy(const Chunk &dst, const Chunk &src, const MoveOptions &options, Place at) {
  detail::statement(Call::MoveCopy, options, {&dst, 1}, src, {}, at);
}
void copy(ChunkList dsts, const Chunk &src, const MoveOptions &options, Place at) {
  detail::statement(Call::MoveCopy, options, detail::spanOf(dsts), src, {}, at);
}
void reduce(const Chunk &into, ChunkList others, const MoveOptions &options, Place at) {
  reduce(into, into, others, options, at);
}
void reduce(const Chunk &into, const Chunk &first, ChunkList others, const MoveOptions &options, Place at) {
  detail::statement(Call::MoveReduce, options, {&into, 1}, first, detail::spanOf(others), at);
}
void reduce(const Chunk &into, std::initializer_list<Chunk> others, const MoveOptions &options, Place at) {
  reduce(into, ChunkList(others), options, at);
}

Hook::Hook(detail::Text name, const HookOptions &options, Place at)
    : handle_(detail::__mscclc_hook(name.data(), name.size(), &options, &at)) {}
void apply(Hook hook, Chunk chunk, const MoveOptions &options, Place at) {
  detail::statement(Call::MoveApply, options, {&chunk, 1}, chunk, {}, at, Access::handle(hook));
}
void apply(Hook hook, Chunk chunk, On on, Place at) {
  detail::move(Call::Apply, Access::handle(hook), chunk, chunk, on, at);
}
void apply(Hook hook, Chunk chunk, ThreadBlock on, Place at) {
  apply(hook, chunk, On(on), at);
}
void apply(Hook hook, Chunk chunk, const ThreadBlockGroup &on, Place at) {
  apply(hook, chunk, On(on), at);
}

Semaphore::Semaphore(std::int64_t rank, std::int64_t initialValue, Place at)
    : handle_(detail::__mscclc_semaphore(rank, initialValue, &at)) {}
void Semaphore::acquire(On on, Sync sync, Place at) const {
  detail::sync(Call::Acquire, flagsOf(sync), handle_, on, at);
}
void Semaphore::release(On on, Sync sync, Place at) const {
  detail::sync(Call::Release, flagsOf(sync), handle_, on, at);
}

MemoryChannel::MemoryChannel(std::int64_t dst, std::int64_t src, Place at) : PointToPoint(false, dst, src, at) {}
ChannelPair<MemoryChannel> MemoryChannel::pair(std::int64_t a, std::int64_t b, Place at) {
  ChannelPair<MemoryChannel> ends;
  join(false, a, b, ends.ab, ends.ba, at);
  return ends;
}
void MemoryChannel::signal(On on, SignalOptions options, Place at) const {
  detail::sync(Call::Signal, flagsOf(options.sync, options.relaxed), handle_, on, at);
}
void MemoryChannel::wait(On on, SignalOptions options, Place at) const {
  detail::sync(Call::Wait, flagsOf(options.sync, options.relaxed), handle_, on, at);
}
void MemoryChannel::get(const Chunk &dst, const Chunk &src, On on, Place at) const {
  detail::move(Call::Get, handle_, dst, src, on, at);
}
void MemoryChannel::put(const Chunk &dst, const Chunk &src, On on, Place at) const {
  detail::move(Call::Put, handle_, dst, src, on, at);
}
void MemoryChannel::putPackets(const Chunk &dst, const Chunk &src, On on, Place at) const {
  detail::move(Call::PutPackets, handle_, dst, src, on, at);
}
void MemoryChannel::readPutPackets(const Chunk &dst, const Chunk &src, On on, Place at) const {
  detail::move(Call::ReadPutPackets, handle_, dst, src, on, at);
}
void MemoryChannel::reduce(const Chunk &local, ChunkList remotes, On on, const ReadReduceOptions &options,
                           Place at) const {
  detail::__mscclc_reduce(Call::ReadReduce, flagsOf(options.op), handle_, Access::set(on), &options.dst, &local,
                          remotes.data(), remotes.size(), &at);
}

PortChannel::PortChannel(std::int64_t dst, std::int64_t src, Place at) : PointToPoint(true, dst, src, at) {}
ChannelPair<PortChannel> PortChannel::pair(std::int64_t a, std::int64_t b, Place at) {
  ChannelPair<PortChannel> ends;
  join(true, a, b, ends.ab, ends.ba, at);
  return ends;
}
void PortChannel::signal(On on, PortSignalOptions options, Place at) const {
  detail::sync(Call::Signal, flagsOf(options.sync), handle_, on, at);
}
void PortChannel::wait(On on, PortSignalOptions options, Place at) const {
  detail::sync(Call::Wait, flagsOf(options.sync), handle_, on, at);
}
void PortChannel::flush(On on, PortSignalOptions options, Place at) const {
  detail::sync(Call::Flush, flagsOf(options.sync), handle_, on, at);
}
void PortChannel::put(const Chunk &dst, const Chunk &src, On on, Place at) const {
  detail::move(Call::Put, handle_, dst, src, on, at);
}
void PortChannel::putWithSignal(const Chunk &dst, const Chunk &src, On on, Place at) const {
  detail::move(Call::PutWithSignal, handle_, dst, src, on, at);
}
void PortChannel::putWithSignalAndFlush(const Chunk &dst, const Chunk &src, On on, Place at) const {
  detail::move(Call::PutWithSignalAndFlush, handle_, dst, src, on, at);
}
void PortChannel::putPackets(const Chunk &dst, const Chunk &src, On on, Place at) const {
  detail::move(Call::PutPackets, handle_, dst, src, on, at);
}
void PortChannel::readPutPackets(const Chunk &dst, const Chunk &src, On on, Place at) const {
  detail::move(Call::ReadPutPackets, handle_, dst, src, on, at);
}

SwitchChannel::SwitchChannel(detail::IntegerList ranks, BufferType buffer, Place at)
    : handle_(detail::__mscclc_switch(&ranks.array(), static_cast<std::uint32_t>(buffer), &at)) {}
SwitchChannelView SwitchChannel::atRank(std::int64_t rank, Place at) const {
  return SwitchChannelView(detail::__mscclc_at_rank(handle_, rank, &at));
}
SwitchChannelView::SwitchChannelView(std::uint32_t handle) : handle_(handle) {}
void SwitchChannelView::reduce(std::int64_t offset, std::int64_t size, const Chunk &dst, On on, ReduceOp op,
                               Place at) const {
  detail::__mscclc_switch_operation(Call::SwitchReduce, flagsOf(op), handle_, Access::set(on), &dst, offset, size, &at);
}
void SwitchChannelView::broadcast(const Chunk &src, std::int64_t offset, std::int64_t size, On on, Place at) const {
  detail::__mscclc_switch_operation(Call::SwitchBroadcast, 0, handle_, Access::set(on), &src, offset, size, &at);
}
void SwitchChannelView::broadcastPackets(const Chunk &src, std::int64_t offset, std::int64_t size, On on,
                                         Place at) const {
  detail::__mscclc_switch_operation(Call::SwitchBroadcastPackets, 0, handle_, Access::set(on), &src, offset, size, &at);
}
void SwitchChannelView::signal(On on, SignalOptions options, Place at) const {
  detail::sync(Call::SwitchSignal, flagsOf(options.sync, options.relaxed), handle_, on, at);
}
void SwitchChannelView::wait(On on, SignalOptions options, Place at) const {
  detail::sync(Call::SwitchWait, flagsOf(options.sync, options.relaxed), handle_, on, at);
}

ChunkRef chunk(std::int64_t rank, BufferType buffer, std::int64_t index, std::int64_t size, Place at) {
  ChunkRef ref;
  ref.data_ = detail::placeOf(rank, buffer, index);
  ref.data_.size = size;
  ref.data_.handle = detail::__mscclc_ref(&ref.data_, &at);
  return ref;
}
ChunkRef ChunkRef::put(std::int64_t dst, BufferType buffer, std::int64_t index, const ChunkOptions &options,
                       Place at) const {
  return detail::send(Call::RefPut, options, *this, detail::placeOf(dst, buffer, index), at);
}
ChunkRef ChunkRef::get(std::int64_t src, BufferType buffer, std::int64_t index, const ChunkOptions &options, Place at) {
  return *this = detail::stay(Call::RefGet, options, *this, detail::placeOf(src, buffer, index), at);
}
ChunkRef ChunkRef::copy(std::int64_t dst, BufferType buffer, std::int64_t index, const ChunkOptions &options,
                        Place at) const {
  return detail::send(Call::RefCopy, options, *this, detail::placeOf(dst, buffer, index), at);
}
ChunkRef ChunkRef::reduce(const ChunkRef &other, const ChunkReduceOptions &options, Place at) {
  return *this = detail::reduceRefs(Call::RefReduce, options, *this, other, at);
}
ChunkRef ChunkRef::signal(std::int64_t dst, BufferType buffer, std::int64_t index, const ChunkOptions &options,
                          Place at) const {
  return detail::stay(Call::RefSignal, options, *this, detail::placeOf(dst, buffer, index), at);
}
ChunkRef ChunkRef::wait(std::int64_t src, BufferType buffer, std::int64_t index, const ChunkOptions &options,
                        Place at) const {
  return detail::stay(Call::RefWait, options, *this, detail::placeOf(src, buffer, index), at);
}
ChunkRef ChunkRef::flush(std::int64_t dst, BufferType buffer, std::int64_t index, const ChunkOptions &options,
                         Place at) const {
  return detail::stay(Call::RefFlush, options, *this, detail::placeOf(dst, buffer, index), at);
}
ChunkRef ChunkRef::putPackets(std::int64_t dst, BufferType buffer, std::int64_t index, const ChunkOptions &options,
                              Place at) const {
  return detail::send(Call::RefPutPackets, options, *this, detail::placeOf(dst, buffer, index), at);
}
ChunkRef ChunkRef::copyPackets(std::int64_t dst, BufferType buffer, std::int64_t index, const ChunkOptions &options,
                               Place at) const {
  return detail::send(Call::RefCopyPackets, options, *this, detail::placeOf(dst, buffer, index), at);
}
ChunkRef ChunkRef::reducePackets(const ChunkRef &other, const ChunkReduceOptions &options, Place at) {
  return *this = detail::reduceRefs(Call::RefReducePackets, options, *this, other, at);
}

Collective::Collective(CollectiveKind kind, detail::Text name, std::int64_t ranks, std::int64_t first,
                       std::int64_t second, bool inplace, const Place &at)
    : handle_(detail::__mscclc_collective(kind, name.data(), name.size(), ranks, first, second, inplace, &at)),
      ranks_(ranks) {}
Collective &Collective::then(detail::Text hook, Place at) {
  detail::__mscclc_then(handle_, hook.data(), hook.size(), &at);
  return *this;
}
#define COLLECTIVE(Kind, ...)                                                                                          \
  Kind::Kind(std::int64_t ranks, std::int64_t chunkFactor, bool inplace, Place at)                                     \
      : Collective(detail::recorded(ir::CollectiveKind::Kind), "", ranks, chunkFactor, 0, inplace, at) {}
#define ROOTED_COLLECTIVE(Kind, ...)                                                                                   \
  Kind::Kind(std::int64_t ranks, std::int64_t chunkFactor, std::int64_t root, bool inplace, Place at)                  \
      : Collective(detail::recorded(ir::CollectiveKind::Kind), "", ranks, chunkFactor, root, inplace, at) {}
#define ROW_COLLECTIVE(Kind, ...)                                                                                      \
  Kind::Kind(std::int64_t ranks, RowLayout layout, Place at)                                                           \
      : Collective(detail::recorded(ir::CollectiveKind::Kind), "", ranks, 1, static_cast<std::int64_t>(layout), false, \
                   at) {}
#define EXPERT_COLLECTIVE(Kind, ...)                                                                                   \
  Kind::Kind(std::int64_t ranks, std::int64_t experts, ExpertLayout layout, Place at)                                  \
      : Collective(detail::recorded(ir::CollectiveKind::Kind), "", ranks, experts, static_cast<std::int64_t>(layout),  \
                   false, at) {}
#include "runtime-min/include/mscclc/collectives.def"
TestCollective::TestCollective(std::int64_t ranks, std::int64_t inputChunks, std::int64_t outputChunks, Place at)
    : Collective(detail::recorded(ir::CollectiveKind::Test), "", ranks, inputChunks, outputChunks, false, at) {}
CustomCollective::CustomCollective(detail::Text name, std::int64_t ranks, std::int64_t inputChunks,
                                   std::int64_t outputChunks, bool inplace, Place at)
    : Collective(detail::recorded(ir::CollectiveKind::Custom), name, ranks, inputChunks, outputChunks, inplace, at) {}
CustomCollective::CustomCollective(detail::Text name, detail::ElementList<ChunkCounts> sizes, bool inplace, Place at)
    : Collective(detail::recorded(ir::CollectiveKind::Custom), name, static_cast<std::int64_t>(sizes.size()), 0, 0,
                 inplace, at) {
  detail::__mscclc_collective_sizes(handle_, sizes.data(), sizes.size(), &at);
}
CustomCollective &CustomCollective::expect(std::int64_t rank, std::int64_t outputChunk,
                                           detail::ElementList<Contribution> contributions, Place at) {
  detail::__mscclc_expect(handle_, rank, outputChunk, contributions.data(), contributions.size(), &at);
  return *this;
}

CollectiveProgram::CollectiveProgram(detail::Text name, const Collective &collective, const ProgramOptions &options,
                                     Place at)
    : ranks_(collective.ranks_) {
  detail::__mscclc_program_begin(name.data(), name.size(), collective.handle_, &options, &at);
}
CollectiveProgram::~CollectiveProgram() {
  detail::__mscclc_program_end();
}
PipelineLoop::PipelineLoop(std::int64_t unit, std::int64_t numChunks, Place at) {
  detail::__mscclc_loop_begin(unit, numChunks, &at);
}
PipelineLoop::~PipelineLoop() {
  detail::__mscclc_loop_end();
}

template class List<int>;
template class List<Buffer>;
template class List<Chunk>;
template class List<ChunkCounts>;
template class List<MemoryChannel>;
template class List<PortChannel>;
template class List<Rank>;
template class List<Semaphore>;
template class List<SwitchChannel>;
template class List<SwitchChannelView>;
template class List<Tag>;
template class List<detail::Text>;
template class List<ThreadBlock>;
template class List<ThreadBlockGroup>;

} // namespace mscclc

namespace mscclc::frontend {

bool isListFunction(std::string_view symbol) {
  return symbol.starts_with("_ZN6mscclc4ListI") || symbol.starts_with("_ZNK6mscclc4ListI");
}

void *findDslFunction(std::string_view symbol) {
  // All functions of the DSL are in namespace mscclc.
  if (!symbol.starts_with("_ZN6mscclc") && !symbol.starts_with("_ZNK6mscclc"))
    return nullptr;
  static void *const program = dlopen(nullptr, RTLD_LAZY);
  return program ? dlsym(program, std::string(symbol).c_str()) : nullptr;
}

} // namespace mscclc::frontend
