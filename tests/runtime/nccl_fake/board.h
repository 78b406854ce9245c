// A board where the ranks of a communicator of the fake exchange small messages. It is memory that processes share
// because they forked after its creation.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <vector>

namespace nccl_fake {

struct Board {
  static constexpr int maxRanks = 16;
  static constexpr size_t slotBytes = 4096;

  std::atomic<int> error;                 ///< what ncclCommGetAsyncError says
  std::atomic<uint64_t> posted[maxRanks]; ///< rounds that a rank has posted
  /// A rank that posts round n + 2 has seen all others in round n + 1, so they have read those of round n.
  unsigned char slots[2][maxRanks][slotBytes];

  void post(int rank, uint64_t round, const void *bytes, size_t count) {
    std::memcpy(slots[round % 2][rank], bytes, count);
    posted[rank].store(round + 1, std::memory_order_release);
  }
  /// Waits for all ranks; `to` gets `count` bytes of each.
  void collect(int ranks, uint64_t round, void *to, size_t count) {
    for (int rank = 0; rank < ranks; ++rank) {
      while (posted[rank].load(std::memory_order_acquire) <= round)
        std::this_thread::yield();
      std::memcpy(static_cast<unsigned char *>(to) + static_cast<size_t>(rank) * count, slots[round % 2][rank], count);
    }
  }
};

inline Board *boardOf(const std::string &name) {
  static std::mutex mutex;
  static std::map<std::string, Board *> boards;
  const std::lock_guard<std::mutex> lock(mutex);
  Board *&board = boards[name];
  if (board == nullptr)
    board = new (::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Board();
  return board;
}

} // namespace nccl_fake
