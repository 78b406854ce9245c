#include "frontend/trace/recording.h"

#include <algorithm>
#include <utility>

extern "C" {
mscclc::frontend::CallStack __mscclc_call_stack;
}

namespace mscclc::frontend {
namespace {

constexpr std::size_t placeSlots = 1 << 16, chainSlots = 1 << 14;
constexpr std::size_t maxProbes = 16;

struct PlaceSlot {
  std::uint32_t generation, file, line, column, chain;
  PlaceId id;
};
struct ChainSlot {
  std::uint32_t generation, parent, site, id;
};

// Entries of earlier recordings have other generations, so the tables need not be cleared.
std::uint32_t generation = 0;
PlaceSlot placeTable[placeSlots];
ChainSlot chainTable[chainSlots];

std::size_t slotHash(std::uint64_t a, std::uint64_t b) {
  std::uint64_t h = (a ^ (b << 32 | b >> 32)) * 0x9e3779b97f4a7c15u;
  return static_cast<std::size_t>(h >> 40);
}

} // namespace

void Recording::start(std::span<std::byte> region, const RecordingSetup &setup) {
  ++generation;
  __mscclc_call_stack.depth = 0;
  *this = {};
  base_ = region.data();
  capacity_ = region.size();
  setup_ = setup;
  used_ = sizeof(TraceHeader);
  const TraceHeader header{TraceHeader::expectedMagic, used_, 0, 0};
  std::memcpy(base_, &header, sizeof header);
}

std::size_t Recording::finish() {
  const auto used = static_cast<std::size_t>(used_);
  *this = {};
  return used;
}

/// Returns room for a record of `bytes` bytes; null if there is no room.
void *Recording::take(std::uint64_t bytes) {
  bytes = (bytes + 7) & ~std::uint64_t{7};
  if (!base_ || bytes > capacity_ - used_) {
    if (base_ && !full_) {
      full_ = true;
      reinterpret_cast<TraceHeader *>(base_)->full = 1;
      if (setup_.onFull)
        setup_.onFull();
    }
    return nullptr;
  }
  void *room = base_ + used_;
  used_ += bytes;
  return room;
}

std::uint32_t Recording::fileId(const char *path) {
  for (std::uint32_t i = 0; i < knownFiles_; ++i)
    if (files_[i].path == path)
      return files_[i].id;
  if (!path)
    path = "";
  std::uint32_t id = numFiles_;
  for (std::uint32_t i = 0; i < knownFiles_; ++i)
    if (std::strcmp(files_[i].path, path) == 0)
      id = files_[i].id;
  if (id == numFiles_) {
    const std::uint64_t length = std::strlen(path);
    if (!append(FileRecord{headOf(RecordKind::File), length}, length,
                [&](std::byte *text) { std::memcpy(text, path, length); }))
      return 0;
    ++numFiles_;
  }
  if (knownFiles_ < fileSlots)
    files_[knownFiles_++] = {path, id};
  return id;
}

std::uint32_t Recording::chainId(std::uint32_t parent, std::uint32_t site) {
  const std::size_t start = slotHash(parent, site);
  ChainSlot *free = nullptr;
  for (std::size_t probe = 0; probe < maxProbes && !free; ++probe) {
    ChainSlot &slot = chainTable[(start + probe) % chainSlots];
    if (slot.generation != generation)
      free = &slot;
    else if (slot.parent == parent && slot.site == site)
      return slot.id;
  }
  if (!append(CallChainRecord{headOf(RecordKind::CallChain), parent, site}))
    return 0;
  ++numChains_;
  if (free)
    *free = {generation, parent, site, numChains_};
  return numChains_;
}

/// Returns the number of the current call chain. Reuses the part that is the same as in the last call.
std::uint32_t Recording::currentChain() {
  const std::uint32_t depth = std::min(__mscclc_call_stack.depth, CallStack::capacity);
  std::uint32_t same = 0;
  while (same < depth && same < lastStack_.depth && lastStack_.sites[same] == __mscclc_call_stack.sites[same])
    ++same;
  for (std::uint32_t i = same; i < depth; ++i) {
    lastStack_.sites[i] = __mscclc_call_stack.sites[i];
    lastChains_[i + 1] = chainId(lastChains_[i], lastStack_.sites[i]);
  }
  lastStack_.depth = depth;
  return lastChains_[depth];
}

Place Recording::shownPlace(const Place &place) const {
  const auto endsAt = [](const MacroUse &use) { return std::pair(use.endLine, use.endColumn); };
  const std::pair end(place.line, place.column);
  for (auto use = std::ranges::lower_bound(setup_.macros, end, {}, endsAt);
       use != setup_.macros.end() && endsAt(*use) == end; ++use)
    if (place.file && use->file == place.file)
      return {place.file, use->line, use->column};
  return place;
}

PlaceId Recording::placeId(const Place &place) {
  if (!base_)
    return 0;
  const std::uint32_t chain = currentChain(), file = fileId(place.file);
  const std::size_t start = slotHash(std::uint64_t{place.line} << 32 | place.column, std::uint64_t{file} << 32 | chain);
  PlaceSlot *free = nullptr;
  for (std::size_t probe = 0; probe < maxProbes && !free; ++probe) {
    PlaceSlot &slot = placeTable[(start + probe) % placeSlots];
    if (slot.generation != generation)
      free = &slot;
    else if (slot.line == place.line && slot.column == place.column && slot.file == file && slot.chain == chain)
      return slot.id;
  }
  const Place shown = shownPlace(place);
  if (!append(PlaceRecord{headOf(RecordKind::Place), file, shown.line, shown.column, chain}))
    return 0;
  ++numPlaces_;
  if (free)
    *free = {generation, file, place.line, place.column, chain, numPlaces_};
  return numPlaces_;
}

} // namespace mscclc::frontend
