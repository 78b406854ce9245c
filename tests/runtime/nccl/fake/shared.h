// What the ranks of a fake NCCL's communicator share: a piece of memory with a name, in one process or in several.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace fake {

constexpr int mostRanks = 16;
constexpr size_t slotBytes = size_t{256} << 10;
constexpr size_t mailBytes = size_t{32} << 10;

/// From one rank to another, a piece at a time.
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

/// The memory of this name, made by whoever comes first. The last of `ranks` to come takes the name away. Null on
/// failure.
Shared *attach(const std::string &name, uint32_t ranks);
void detach(Shared *shared);
/// Between two looks at something that another thread changes.
void pause();

} // namespace fake
