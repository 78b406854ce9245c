// Ranks in this process, each with a communicator, a device, a stream and buffers, and the expected results of
// collectives.
#pragma once

#include "nccl.h"

#include <algorithm>
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
  /// Uses existing communicators, one for each rank.
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
  /// Runs `call(rank)` for each rank within a group, and waits. Returns the first error of any of them.
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

/// An AllReduce of `count` values on all ranks of a world, in a group; true if every output is right.
template <class T>
bool reducesRight(World &world, size_t count, ncclDataType_t type, ncclRedOp_t op, bool threads = false) {
  world.fill<T>(count);
  const auto call = [&](int rank) {
    return ncclAllReduce(world.inputs[rank], world.outputs[rank], count, type, op, world.comms[rank],
                         world.streams[rank]);
  };
  if ((threads ? world.inThreads(call) : world.inGroup(call)) != ncclSuccess)
    return false;
  for (int rank = 0; rank < world.ranks(); ++rank)
    for (size_t i = 0; i < count; ++i) {
      T wanted = valueOf<T>(0, i);
      for (int other = 1; other < world.ranks(); ++other) {
        const T value = valueOf<T>(other, i);
        wanted = op == ncclMax    ? std::max(wanted, value)
                 : op == ncclMin  ? std::min(wanted, value)
                 : op == ncclProd ? static_cast<T>(wanted * value)
                                  : static_cast<T>(wanted + value);
      }
      if (world.output<T>(rank)[i] != wanted)
        return false;
    }
  return true;
}

/// Calls of a function that have reached the fake NCCL so far, by its name without "nccl".
int reached(const std::string &name);
/// Returns how many calls of a function reach the fake NCCL during `action`.
int reachedBy(const char *function, const std::function<void()> &action);
/// Returns what `action` writes to stderr.
std::string saidBy(const std::function<void()> &action);

} // namespace testing
