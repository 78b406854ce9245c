// Where the processes of a communicator meet: a Unix socket at a path that all know beforehand, or one that rank 0's
// process makes up and tells through an exchange of the caller's, with one on the network where it may be needed.
#pragma once

#include "bootstrap/socket.h"

#include <array>
#include <string>

namespace mscclc::rt {

/// The caller's exchange; see MscclcCommunicatorOptions::allgather.
struct Allgather {
  int32_t (*call)(void *context, void *all, uint64_t each) = nullptr;
  void *context = nullptr;
  uint32_t process = 0;
  uint32_t processes = 0; ///< 0: each has as many ranks
};

/// Finds where other machines reach this one, at any port.
using FindAddress = Status (*)(Address &result);

/// Ranks of a process.
struct RankRange {
  uint32_t first = 0;
  uint32_t count = 0;
};
/// "rank 1", "ranks 4 to 7".
std::string nameOf(const RankRange &range);

using Token = std::array<uint8_t, 16>;

struct Place {
  Place() = default;
  Place(const Place &) = delete;
  Place &operator=(const Place &) = delete;
  /// Nobody can come any more.
  ~Place();

  /// `path` is known to all; the hub begins to listen.
  Status take(const std::string &path, bool isHub);
  /// The hub listens in a new folder, and all get to know where. On different machines the hub listens where
  /// `findAddress` says; if that is null it fails in all processes, as it does where one of them fails. `ranks`: of all
  /// processes.
  Status agree(const Allgather &allgather, const RankRange &mine, uint32_t ranks, FindAddress findAddress);
  Status listenInNewFolder();

  Address address;
  /// What a process that comes to the hub must know, so that none of another communicator is taken in; zero where
  /// nobody else can come.
  Token token{};
  File listener;            ///< the hub's
  std::string made, folder; ///< the socket's file and folder, to be removed
};

} // namespace mscclc::rt
