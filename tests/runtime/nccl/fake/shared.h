// The memory that the ranks of a communicator of the fake NCCL share, in one process or in several. It has a name.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace fake {

constexpr int mostRanks = 16;
constexpr size_t slotBytes = size_t{256} << 10;
constexpr size_t mailBytes = size_t{32} << 10;

/// Data from one rank to another, one piece at a time.
struct Mail {
  std::atomic<uint32_t> full;
  uint32_t bytes;
  char data[mailBytes];
};

struct SplitCard {
  int color, key;
};

/// All zero at first.
struct Shared {
  std::atomic<uint32_t> registered; ///< windows that ranks which do not block have asked for
  std::atomic<uint32_t> attached, arrived, round, aborted;
  std::atomic<uint64_t> splitters;
  SplitCard cards[2][mostRanks];
  char slots[mostRanks][slotBytes];
  Mail mail[mostRanks][mostRanks];

  /// False if the communicator was aborted.
  bool barrier(uint32_t ranks);
};

/// Returns the memory of this name. The first caller creates it, and the last one of `ranks` callers removes the name.
/// Null on failure.
Shared *attach(const std::string &name, uint32_t ranks);
void detach(Shared *shared);
/// Pauses between two reads of something that another thread changes.
void pause();

} // namespace fake
