// The layout of a rank's counters in its part of an instance's sync region. Any process can compute the layout of any
// rank from the kernel's description, so only the address of the region has to be exchanged.
#pragma once

#include "mscclc/runtime_abi.h"

#include <cstdint>

namespace mscclc::rt {

/// Returns counter `index` of the counters that begin at byte `offset` of a rank's part.
inline uint64_t *counterAt(char *part, uint64_t offset, uint64_t index) {
  return reinterpret_cast<uint64_t *>(part + offset) + index;
}

/// The layout in bytes. Each kind of counter has its own cache lines.
struct SyncLayout {
  uint64_t memoryInbound, portInbound;   ///< written by peers
  uint64_t memoryExpected, portExpected; ///< written by this rank
  uint64_t memorySent;                   ///< written by this rank, if links do not support additions
  uint64_t unheard;                      ///< targets of signals on memory channels without a pair
  uint64_t flushRequests, flushesDone;
  uint64_t barriers, launches, finished, fifoHead, semaphores, staging;
  uint64_t bytes;

  explicit SyncLayout(const MscclcRankInfo &info) {
    const uint64_t memory = info.memory_channels, port = info.port_channels;
    uint64_t at = 0;
    const auto take = [&](uint64_t size) {
      const uint64_t start = at;
      at = (at + size + 127) / 128 * 128;
      return start;
    };
    memoryInbound = take(memory * 8);
    portInbound = take(port * 8);
    memoryExpected = take(memory * 8);
    portExpected = take(port * 8);
    memorySent = take(memory * 8);
    unheard = take(memory * 8);
    flushRequests = take(port * 8);
    flushesDone = take(port * 8);
    barriers = take(info.barriers * uint64_t{8});
    launches = take(info.blocks * uint64_t{8});
    finished = take(4 * 8);
    fifoHead = take(16);
    semaphores = take(info.semaphores * uint64_t{4});
    staging = take(2 * 8);
    bytes = at;
  }
};

} // namespace mscclc::rt
