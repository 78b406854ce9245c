// The data of a rank of a real communicator, which this library keeps in its side table.
#pragma once

#include "call.h"

#include <memory>
#include <string>
#include <vector>

namespace mscclc::nccl {

/// True if this library's CUDA runtime can start. It may need a newer driver than the program does. If it cannot start,
/// prints that once, and NCCL runs all calls. Processes with the same driver get the same answer.
bool cudaStarts();

class Team;

struct Member {
  Comm comm = nullptr;
  uint32_t ranks = 0;
  uint32_t rank = 0;
  int device = 0;
  bool known = false;         ///< true after the ranks have exchanged their descriptions
  uint32_t ranksPerNode = 0;  ///< known after the communicator's ranks have met; 0 before
  std::shared_ptr<Team> team; ///< use teamOf() to read it; null: NCCL runs every call

  // The next two members are for exchanges between ranks through the real communicator.
  cudaStream_t stream = nullptr;
  void *memory = nullptr;

  // Calls of one communicator share a window, so they follow each other.
  cudaEvent_t done = nullptr; ///< recorded after the last call outside captures
  bool isPending = false;
  cudaStream_t lastCaptured = nullptr;
  unsigned long long lastCapture = 0;

  Member() = default;
  Member(const Member &) = delete;
  Member &operator=(const Member &) = delete;
  ~Member();
};

/// Waits until a call on a communicator has completed, if the communicator is non-blocking. `result` is the result of
/// the call. Returns the final result.
int settled(Comm comm, int result);

/// The most bytes that one rank sends in tellAll().
inline constexpr size_t mostToTell = 128;

/// Exchanges data between all ranks. Every rank of the members' communicators calls this at the same time. Before,
/// `said` has the data of each member, all of the same size. Afterwards, it has for each member the data of all ranks
/// of its communicator, in the order of the ranks. The exchange uses the real communicators, on separate streams.
/// Returns a Result.
int tellAll(const std::vector<Member *> &members, std::vector<std::string> &said);

/// Saves the calling thread's device and restores it. In between, the thread may allocate and wait while streams are
/// captured.
class ThreadStateGuard {
public:
  ThreadStateGuard();
  ~ThreadStateGuard();
  ThreadStateGuard(const ThreadStateGuard &) = delete;
  ThreadStateGuard &operator=(const ThreadStateGuard &) = delete;

private:
  int device_ = -1;
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

} // namespace mscclc::nccl
