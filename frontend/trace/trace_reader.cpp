#include "frontend/trace/trace_reader.h"

#include <array>
#include <cstddef>

namespace mscclc::frontend {

namespace {
constexpr std::uint32_t numKinds = static_cast<std::uint32_t>(RecordKind::Call) + numCalls;
} // namespace

TraceReader::TraceReader(std::span<const std::byte> trace) : bytes_(trace) {
  TraceHeader header{};
  if (trace.size() >= sizeof header)
    std::memcpy(&header, trace.data(), sizeof header);
  damaged_ = header.magic != TraceHeader::expectedMagic || header.size < sizeof header || header.size > trace.size();
  full_ = header.full != 0;
  next_ = sizeof header;
  if (!damaged_)
    bytes_ = trace.first(static_cast<std::size_t>(header.size));
}

namespace {
/// The layout of a record: a fixed part, and elements after it. The fixed part contains their number. Sizes are in
/// bytes.
struct Shape {
  std::uint8_t fixed = 0;      ///< size of the fixed part
  std::uint8_t element = 1;    ///< size of an element
  std::uint8_t countAt = 0;    ///< offset of the count in the fixed part
  std::uint8_t countWidth = 0; ///< width of the count: 2, 4 or 8; 0 if no elements follow
};

constexpr Shape shapeOf(std::uint32_t kind) {
  switch (static_cast<RecordKind>(kind)) {
  case RecordKind::File:
    return {sizeof(FileRecord), 1, offsetof(FileRecord, length), 8};
  case RecordKind::CallChain:
    return {sizeof(CallChainRecord)};
  case RecordKind::Place:
    return {sizeof(PlaceRecord)};
  case RecordKind::Collective:
    return {sizeof(CollectiveRecord), 1, offsetof(CollectiveRecord, nameLength), 4};
  case RecordKind::CollectiveSizes:
    return {sizeof(CollectiveSizesRecord), 2 * sizeof(WideInteger), offsetof(CollectiveSizesRecord, count), 8};
  case RecordKind::Expectation:
    return {sizeof(ExpectationRecord), 2 * sizeof(WideInteger), offsetof(ExpectationRecord, count), 8};
  case RecordKind::Then:
    return {sizeof(ThenRecord), 1, offsetof(ThenRecord, nameLength), 4};
  case RecordKind::Hook:
    return {sizeof(HookRecord), 1, offsetof(HookRecord, nameLength), 4};
  case RecordKind::HookText:
    return {sizeof(HookTextRecord), 1, offsetof(HookTextRecord, nameLength), 4};
  case RecordKind::Tag:
    return {sizeof(TagRecord), 1, offsetof(TagRecord, nameLength), 4};
  case RecordKind::ProgramBegin:
    return {sizeof(ProgramRecord), 1, offsetof(ProgramRecord, nameLength), 4};
  case RecordKind::ProgramEnd:
  case RecordKind::LoopEnd:
    return {sizeof(RecordHead)};
  case RecordKind::FaultyRank:
  case RecordKind::FaultyBlock:
  case RecordKind::Scratch:
  case RecordKind::Channel:
  case RecordKind::SwitchView:
  case RecordKind::Semaphore:
  case RecordKind::LoopBegin:
    return {sizeof(PairRecord)};
  case RecordKind::FaultySlice:
    return {sizeof(SliceRecord)};
  case RecordKind::Ref:
    return {sizeof(RefRecord)};
  case RecordKind::Note:
    return {sizeof(NoteRecord), 1, offsetof(NoteRecord, length), 4};
  case RecordKind::Group:
  case RecordKind::SwitchChannel:
    return {sizeof(ListRecord), sizeof(std::int64_t), offsetof(ListRecord, count), 8};
  case RecordKind::Call:
    break;
  }
  switch (familyOf(static_cast<detail::Call>(kind - static_cast<std::uint32_t>(RecordKind::Call)))) {
  case CallFamily::Blocks:
    return {sizeof(BarrierRecord), sizeof(std::int64_t), offsetof(BarrierRecord, count), 8};
  case CallFamily::Rank:
  case CallFamily::Channel:
  case CallFamily::Semaphore:
  case CallFamily::Hook:
    return {sizeof(CallRecord), sizeof(ChunkRecord), offsetof(RecordHead, count), 2};
  case CallFamily::Switch:
    return {sizeof(SwitchCallRecord), sizeof(ChunkRecord), offsetof(RecordHead, count), 2};
  case CallFamily::Movement:
    return {sizeof(MoveRecord), sizeof(ChunkRecord), offsetof(RecordHead, count), 2};
  case CallFamily::Ref:
    return {sizeof(RefCallRecord)};
  }
  return {};
}

constexpr auto shapes = [] {
  std::array<Shape, numKinds> all;
  for (std::uint32_t kind = 0; kind < numKinds; ++kind)
    all[kind] = shapeOf(kind);
  return all;
}();
} // namespace

/// Sets the sizes of the parts of the record at next_. False if the record does not fit in the trace.
bool TraceReader::measure() {
  const std::size_t room = bytes_.size() - next_;
  const Shape &shape = shapes[head_.kind];
  fixed_ = shape.fixed;
  extraSize_ = shape.element;
  if (fixed_ > room)
    return false;
  std::uint64_t extra = 0; // little-endian: a narrower count fills the low bytes
  const std::byte *count = bytes_.data() + next_ + shape.countAt;
  if (shape.countWidth == 2)
    std::memcpy(&extra, count, 2);
  else if (shape.countWidth == 4)
    std::memcpy(&extra, count, 4);
  else if (shape.countWidth == 8)
    std::memcpy(&extra, count, 8);
  if (extra > (room - fixed_) / extraSize_)
    return false;
  extraCount_ = static_cast<std::size_t>(extra);
  return true;
}

bool TraceReader::next() {
  if (damaged_ || next_ == bytes_.size())
    return false;
  damaged_ = true;
  if (bytes_.size() - next_ < sizeof(RecordHead))
    return false;
  head_ = peek<RecordHead>();
  if (head_.kind >= numKinds || !measure())
    return false;
  const std::size_t size = (fixed_ + extraCount_ * extraSize_ + 7) & ~std::size_t{7};
  if (size > bytes_.size() - next_)
    return false;
  offset_ = next_;
  next_ += size;
  damaged_ = false;
  return true;
}

} // namespace mscclc::frontend
