// A rank of a real communicator, as this library keeps it in its side table.
#pragma once

#include "call.h"

#include <memory>
#include <string>
#include <vector>

namespace mscclc::nccl {

/// Whether this library's CUDA runtime can start: it may want a newer driver than the program does. If not, a line says
/// so, once, and NCCL has all calls. The processes of a communicator come to the same where they have the same driver.
bool cudaStarts();

class Team;

struct Member {
  Comm comm = nullptr;
  uint32_t ranks = 0;
  uint32_t rank = 0;
  int device = 0;
  bool known = false;         ///< set up: its ranks have told each other what they are
  uint32_t ranksPerNode = 0;  ///< where its team is
  std::shared_ptr<Team> team; ///< read it by teamOf; null: NCCL runs every call

  // For what ranks tell each other through the real communicator.
  cudaStream_t stream = nullptr;
  void *memory = nullptr;

  // Calls of one communicator use one window, so they follow each other.
  cudaEvent_t done = nullptr; ///< the last call outside of captures
  bool isPending = false;
  cudaStream_t lastCaptured = nullptr;
  unsigned long long lastCapture = 0;

  Member() = default;
  Member(const Member &) = delete;
  Member &operator=(const Member &) = delete;
  ~Member();
};

/// Waits for a communicator whose calls return before they are done; `result` is what one has returned.
int settled(Comm comm, int result);

/// What one rank says at most, in bytes.
inline constexpr size_t mostToTell = 128;

/// Every rank of the members' communicators calls this at the same time. `said` is what each member says, of one size,
/// and becomes what all ranks of its communicator say, in their order. Goes through the real communicators, on streams
/// of its own. Returns a Result.
int tellAll(const std::vector<Member *> &members, std::vector<std::string> &said);

/// Leaves the calling thread's device as it was, and lets it allocate and wait while streams are captured.
class Aside {
public:
  Aside();
  ~Aside();
  Aside(const Aside &) = delete;
  Aside &operator=(const Aside &) = delete;

private:
  int device_ = -1;
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

} // namespace mscclc::nccl
