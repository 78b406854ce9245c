#include "frontend/trace_reader.h"

namespace mscclc::frontend {

namespace {
constexpr std::uint32_t numCalls = 0
#define MSCCLC_CALL(name, spelling) +1
#include "frontend/include/mscclc/detail/calls.def"
    ;
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

/// Sets the sizes of the parts of the record at next_; false if it does not fit.
bool TraceReader::measure() {
  const std::size_t room = bytes_.size() - next_;
  extraSize_ = 1;
  std::uint64_t extra = 0;
  // Takes the fixed part's size first, so that what it says may be read.
  const auto fixed = [&](std::size_t size) {
    fixed_ = size;
    return size <= room;
  };
  switch (static_cast<RecordKind>(head_.kind)) {
  case RecordKind::File:
    if (!fixed(sizeof(FileRecord)))
      return false;
    extra = peek<FileRecord>().length;
    break;
  case RecordKind::CallChain:
    fixed_ = sizeof(CallChainRecord);
    break;
  case RecordKind::Place:
    fixed_ = sizeof(PlaceRecord);
    break;
  case RecordKind::Collective:
    if (!fixed(sizeof(CollectiveRecord)))
      return false;
    extra = peek<CollectiveRecord>().nameLength;
    break;
  case RecordKind::Expectation:
    if (!fixed(sizeof(ExpectationRecord)))
      return false;
    extra = peek<ExpectationRecord>().count;
    extraSize_ = 2 * sizeof(WideInteger);
    break;
  case RecordKind::ProgramBegin:
    if (!fixed(sizeof(ProgramRecord)))
      return false;
    extra = peek<ProgramRecord>().nameLength;
    break;
  case RecordKind::ProgramEnd:
  case RecordKind::LoopEnd:
    fixed_ = sizeof(RecordHead);
    break;
  case RecordKind::FaultyRank:
  case RecordKind::FaultyBlock:
  case RecordKind::Scratch:
  case RecordKind::Channel:
  case RecordKind::SwitchView:
  case RecordKind::Semaphore:
  case RecordKind::LoopBegin:
    fixed_ = sizeof(PairRecord);
    break;
  case RecordKind::FaultySlice:
    fixed_ = sizeof(SliceRecord);
    break;
  case RecordKind::Group:
  case RecordKind::SwitchChannel:
    if (!fixed(sizeof(ListRecord)))
      return false;
    extra = peek<ListRecord>().count;
    extraSize_ = sizeof(std::int64_t);
    break;
  default:
    switch (static_cast<detail::Call>(head_.kind - static_cast<std::uint32_t>(RecordKind::Call))) {
    case detail::Call::Barrier:
      if (!fixed(sizeof(BarrierRecord)))
        return false;
      extra = peek<BarrierRecord>().count;
      extraSize_ = sizeof(std::int64_t);
      break;
    case detail::Call::SwitchReduce:
    case detail::Call::SwitchBroadcast:
    case detail::Call::SwitchBroadcastPackets:
      fixed_ = sizeof(SwitchCallRecord);
      extra = head_.count;
      extraSize_ = sizeof(ChunkRecord);
      break;
    default:
      fixed_ = sizeof(CallRecord);
      extra = head_.count;
      extraSize_ = sizeof(ChunkRecord);
    }
  }
  if (fixed_ > room || extra > (room - fixed_) / extraSize_)
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
