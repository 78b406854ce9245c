// The place where the processes of a communicator meet. It is a Unix socket at a path. Either all processes know the
// path beforehand, or the process of rank 0 chooses it and distributes it with an exchange function of the caller. A
// socket on the network is added if processes may be on different machines.
#pragma once

#include "process/meeting.h"
#include "socket.h"

#include <array>
#include <string>

namespace mscclc::rt {

using Token = std::array<uint8_t, 16>;

struct MeetingPoint {
  MeetingPoint() = default;
  MeetingPoint(const MeetingPoint &) = delete;
  MeetingPoint &operator=(const MeetingPoint &) = delete;
  /// Stops listening: no more processes can join afterwards.
  ~MeetingPoint();

  /// Meets at `path`, which all processes know. The hub begins to listen there.
  Status take(const std::string &path, bool isHub);
  /// Lets the hub listen in a new folder, and sends the address to all processes. If the processes are on different
  /// machines, the hub listens at the address of `findAddress`. Fails in all processes if `findAddress` is null then,
  /// or if one process fails. `ranks`: the number of ranks of all processes.
  Status agree(const Allgather &allgather, const RankRange &mine, uint32_t ranks, FindAddress findAddress);
  Status listenInNewFolder();

  Address address;
  /// A process must show this token to the hub, so that no process of another communicator is admitted. The token is
  /// zero if processes of other communicators cannot come.
  Token token{};
  File listener;            ///< the hub's
  std::string made, folder; ///< the socket's file and folder, to be removed
};

} // namespace mscclc::rt
