// Communicators of ranks in this process, each with a device, a stream and buffers, and what collectives make of them.
#pragma once

#include "nccl.h"

#include <functional>
#include <string>
#include <vector>

namespace testing {

/// Data of a rank: small whole numbers, so that every type and order of sums is exact.
template <class T> T valueOf(int rank, size_t i) {
  return static_cast<T>((static_cast<size_t>(rank) * 3 + i * 5) % 7 + 1);
}

class World {
public:
  static constexpr size_t room = size_t{1} << 20; ///< bytes of a buffer

  explicit World(int ranks, ncclConfig_t *config = nullptr);
  /// Over communicators that exist, one a rank.
  explicit World(std::vector<ncclComm_t> comms);
  ~World();
  World(const World &) = delete;
  World &operator=(const World &) = delete;

  int ranks() const { return static_cast<int>(comms.size()); }
  template <class T> T *input(int rank) { return static_cast<T *>(inputs[rank]); }
  template <class T> T *output(int rank) { return static_cast<T *>(outputs[rank]); }
  /// Fills the first `count` of each input, and outputs with bytes that no result has.
  template <class T> void fill(size_t count) {
    for (int rank = 0; rank < ranks(); ++rank) {
      for (size_t i = 0; i < count; ++i)
        input<T>(rank)[i] = valueOf<T>(rank, i);
      cudaMemset(outputs[rank], 0xa5, room);
    }
  }
  /// `call(rank)` for each rank within a group; then waits. The first error of any of them.
  ncclResult_t inGroup(const std::function<ncclResult_t(int)> &call);
  /// The same, with a thread for each rank.
  ncclResult_t inThreads(const std::function<ncclResult_t(int)> &call);
  void synchronize();

  std::vector<ncclComm_t> comms;
  std::vector<cudaStream_t> streams;
  std::vector<void *> inputs, outputs;

private:
  void prepare();
};

/// Calls of a function that have reached the stand-in so far, by its name without "nccl".
int reached(const std::string &name);
/// What is written to stderr meanwhile.
std::string saidBy(const std::function<void()> &action);

} // namespace testing
