// Launches on the program's own memory, without copies to the windows and back.
#pragma once

#include "library.h"
#include "member.h"
#include "registered.h"

#include <set>
#include <string>
#include <vector>

namespace mscclc::nccl {

/// The data of a call on the local ranks, in memory that every rank has registered, at one offset.
struct Spot {
  std::vector<uint64_t> ids;  ///< of the memory, by local index
  std::vector<void *> begins; ///< of the memory, by local index
  uint64_t bytes = 0;         ///< of the memory
  uint64_t offset = 0;        ///< of the data
};

/// Where `pointers`, one for each member, lie. None: not on all ranks in such memory, or not all alike.
std::optional<Spot> locate(const std::vector<Member *> &members, const std::vector<const void *> &pointers,
                           uint64_t bytes);

/// The memory of the program's that a team's communicator knows.
class OwnMemory {
public:
  /// The buffer for a spot; null if there can be none. When the memory is new, all processes come here alike, and what
  /// the program has taken back everywhere is released. Says why the processes may not have come to the same; empty if
  /// they have.
  std::string findBuffer(MscclcCommunicator *communicator, const std::vector<Member *> &members, const Spot &spot,
                         MscclcBuffer *&buffer);

private:
  struct Known {
    std::vector<uint64_t> ids;
    MscclcBuffer *buffer = nullptr; ///< null: it cannot be made
  };
  /// Releases what no rank has any more. False if ranks could not be asked.
  bool sweep(const std::vector<Member *> &members);

  std::vector<Known> known_; ///< in the same order in all processes
  /// The ids of those for which there was no room since something was released last; in all processes alike.
  std::set<std::vector<uint64_t>> refused_;
};

} // namespace mscclc::nccl
