// Launches directly on the program's memory, without copies to and from the windows.
#pragma once

#include "library.h"
#include "member.h"
#include "registered.h"

#include <set>
#include <string>
#include <vector>

namespace mscclc::nccl {

/// The place of a call's data on the local ranks, if the data is in memory that every rank has registered, at the same
/// offset.
struct RegisteredData {
  std::vector<uint64_t> ids;  ///< ids of the memories, by local index
  std::vector<void *> begins; ///< addresses of the memories, by local index
  uint64_t bytes = 0;         ///< size of the memory
  uint64_t offset = 0;        ///< offset of the data
};

/// Returns the place of `pointers`, one for each member. None if the data is not in registered memory on all ranks, or
/// not at the same offset.
std::optional<RegisteredData> locate(const std::vector<Member *> &members, const std::vector<const void *> &pointers,
                                     uint64_t bytes);

/// Returns whether a rank's call of shape `shape` works in place, if its input and output are in symmetric windows.
/// NCCL requires that all ranks pass data in such windows at the same offset, so all ranks have the same answer. None
/// for other data and for collectives with a root, because ranks may differ there.
std::optional<bool> worksInPlace(const Call &call, const Shape &shape, const Member &member);

/// The program's memory that is registered with a team's communicator.
class OwnMemory {
public:
  /// Finds the buffer of `data`; null if there is none. If the memory is new, all processes make this call, in the same
  /// order. Then memory is released if the program has deregistered it in all processes. Returns the reason why the
  /// processes may have different results; empty if all have the same.
  std::string findBuffer(MscclcCommunicator *communicator, const std::vector<Member *> &members,
                         const RegisteredData &data, MscclcBuffer *&buffer);

private:
  struct Known {
    std::vector<uint64_t> ids;
    MscclcBuffer *buffer = nullptr; ///< null: the buffer cannot be made
  };
  /// Releases the buffers whose memory is no longer registered in any process. Returns false if the other processes
  /// could not be asked.
  bool sweep(const std::vector<Member *> &members);

  std::vector<Known> known_; ///< the order is the same in all processes
  /// The ids of memories for which there was no room since the last release. They are the same in all processes.
  std::set<std::vector<uint64_t>> refused_;
};

} // namespace mscclc::nccl
