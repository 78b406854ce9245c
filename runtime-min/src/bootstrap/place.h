// Where the processes of a communicator meet: a Unix socket at a path that all know beforehand, or at one that rank 0's
// process makes up and tells through an exchange of the caller's.
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

/// Which ranks a process has, of how many.
struct RankRange {
  uint32_t ranks;
  uint32_t first;
  uint32_t local;
};

class Place {
public:
  Place() = default;
  Place(const Place &) = delete;
  Place &operator=(const Place &) = delete;
  /// Nobody can come any more.
  ~Place();

  /// `path` is known to all; the hub begins to listen.
  Status take(const std::string &path, bool isHub);
  /// The hub listens in a new folder, and all get to know where. On different machines the hub listens on the network
  /// if `mayBeApart`, else it fails in all processes, as it does where one of them fails.
  Status agree(const Allgather &allgather, const RankRange &mine, bool mayBeApart);
  /// Connects to the hub, trying again until `deadline`.
  Status connect(Clock::time_point deadline, File &socket) const;

  /// A path, or an address.
  const std::string &name() const { return address_.empty() ? path_ : address_; }
  /// What a process that comes to the hub must know, so that none of another communicator is taken in; zero where
  /// nobody else can come.
  const std::array<uint8_t, 16> &token() const { return token_; }
  /// The hub's.
  const File &listener() const { return listener_; }

private:
  Status listenInNewFolder();

  std::string path_;
  std::string address_; ///< on the network, if it is there
  std::array<uint8_t, 16> token_{};
  File networkListener_;
  std::string folder_;
  File listener_;
};

} // namespace mscclc::rt
