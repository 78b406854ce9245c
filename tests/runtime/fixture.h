// Communicators on host memory, and data to send through them.
#pragma once

#include "catch.h"
#include "engines.h"
#include "kernels.h"

#include <functional>
#include <string>
#include <vector>

namespace testing {

/// Returns the options of a communicator with all ranks in this process.
inline CommunicatorOptions onHost(uint32_t ranks, uint64_t waitTimeoutMs = 60000) {
  CommunicatorOptions options(ranks);
  options.platform = MSCCLC_PLATFORM_HOST;
  options.wait_timeout_ms = waitTimeoutMs;
  useNccl(options, newPlace());
  return options;
}

/// Byte i of what rank r sends in round n.
inline unsigned char dataOf(uint32_t rank, uint64_t i, uint64_t round) {
  return static_cast<unsigned char>(rank * 37 + i * 11 + round * 101 + 1);
}
inline std::vector<unsigned char> dataOf(uint32_t rank, uint64_t bytes, uint64_t first, uint64_t round) {
  std::vector<unsigned char> data(bytes);
  for (uint64_t i = 0; i < bytes; ++i)
    data[i] = dataOf(rank, first + i, round);
  return data;
}

/// Runs one AllGather in place of `bytes`: writes the local shares, launches, and returns whether all local ranks have
/// all shares.
inline bool gathers(Communicator &communicator, Instance &instance, Buffer &buffer, uint64_t bytes, uint64_t round) {
  const uint64_t share = bytes / communicator.ranks();
  for (uint32_t i = 0; i < communicator.localRanks(); ++i) {
    const uint32_t rank = communicator.firstLocalRank() + i;
    buffer.write(rank, dataOf(rank, share, 0, round), rank * share);
  }
  instance.launch(Call().inPlace(buffer).of(bytes, MSCCLC_U8));
  communicator.synchronize();
  for (uint32_t i = 0; i < communicator.localRanks(); ++i)
    for (uint32_t from = 0; from < communicator.ranks(); ++from)
      if (buffer.read<unsigned char>(communicator.firstLocalRank() + i, share, from * share) !=
          dataOf(from, share, 0, round))
        return false;
  return true;
}

/// Starts a thousand launches in place, of alternating sizes up to 4096 bytes, and waits for none.
inline void launchThousand(Instance &instance, Buffer &buffer) {
  const uint64_t sizes[] = {4096, 16, 1024, 0, 2000};
  for (uint64_t round = 0; round < 1000; ++round)
    instance.launch(Call().inPlace(buffer).of(sizes[round % 5], MSCCLC_U8));
}

/// The code and text of the runtime::Error that `call` throws. The code is MSCCLC_OK if it throws none.
struct Failure {
  int32_t code = MSCCLC_OK;
  std::string text;
};
inline Failure failureOf(const std::function<void()> &call) {
  try {
    call();
    return {};
  } catch (const Error &error) {
    return {error.code(), error.what()};
  }
}
inline bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

} // namespace testing
