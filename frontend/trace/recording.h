// The memory of a recording: records one after the other, and their places in the source.
#pragma once

#include "frontend/trace/recorder.h"
#include "frontend/trace/trace.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace mscclc::frontend {

/// Returns the head of a record of `kind` at `place`.
inline RecordHead headOf(RecordKind kind, PlaceId place = 0, std::uint8_t flags = 0) {
  return {static_cast<std::uint8_t>(kind), flags, 0, place};
}

/// Appends records to a given region of memory. Places, call chains and file names are written once, and then referred
/// to by number. Tables of fixed size find the numbers. When a table is full, an entry may be written again. The
/// process has one set of tables, so there is only one recording at a time.
class Recording {
public:
  /// See startRecording().
  void start(std::span<std::byte> region, const RecordingSetup &setup);
  /// See finishRecording().
  std::size_t finish();

  const RecordingSetup &setup() const { return setup_; }

  /// Appends `record`, and then `extra` bytes that `fill` writes. A record counts only when it is complete, because the
  /// process may be stopped at any point and its recording is still read. False if there is no room.
  template <typename Record, typename Fill> bool append(const Record &record, std::uint64_t extra, Fill fill) {
    static_assert(sizeof(Record) % 8 == 0);
    auto *room = static_cast<std::byte *>(take(sizeof(Record) + extra));
    if (!room)
      return false;
    std::memcpy(room, &record, sizeof(Record));
    fill(room + sizeof(Record));
    std::atomic_signal_fence(std::memory_order_release);
    reinterpret_cast<TraceHeader *>(base_)->size = used_;
    return true;
  }
  template <typename Record> bool append(const Record &record) {
    return append(record, 0, [](std::byte *) {});
  }
  /// Returns the bytes of `count` elements of `each` bytes. For a huge `count`, returns more bytes than there is room
  /// for.
  std::uint64_t bytesOf(std::uint64_t count, std::uint64_t each) const {
    return count > capacity_ ? capacity_ : count * each;
  }

  /// Returns the number of `place` with the current call chain; 0 if there is no room, or no recording.
  PlaceId placeId(const Place &place);
  /// Returns the place where users look for the call at `place`.
  Place shownPlace(const Place &place) const;

private:
  static constexpr std::size_t fileSlots = 256;
  struct FileSlot {
    const char *path;
    std::uint32_t id;
  };

  void *take(std::uint64_t bytes);
  std::uint32_t fileId(const char *path);
  std::uint32_t chainId(std::uint32_t parent, std::uint32_t site);
  std::uint32_t currentChain();

  std::byte *base_ = nullptr;
  std::uint64_t capacity_ = 0, used_ = 0;
  RecordingSetup setup_;
  bool full_ = false;
  std::uint32_t numFiles_ = 0, numChains_ = 0, numPlaces_ = 0;
  std::uint32_t knownFiles_ = 0;
  std::array<FileSlot, fileSlots> files_ = {};
  CallStack lastStack_{};
  /// [depth]: the chain of the first `depth` calls of lastStack_.
  std::array<std::uint32_t, CallStack::capacity + 1> lastChains_ = {};
};

} // namespace mscclc::frontend
