// Frames over a stream. A Unix socket also carries file descriptors; TCP does not. Nothing is encrypted. The token of
// the rendezvous keeps out processes that come by mistake, but not listeners on the network.
#pragma once

#include "bytes.h"
#include "process/file.h"
#include "status.h"

#include <chrono>
#include <cstdint>
#include <sys/socket.h>
#include <vector>

namespace mscclc::rt {

using Clock = std::chrono::steady_clock;

/// An address to listen at. It is plain bytes, which are sent to other processes unchanged.
struct Address {
  sockaddr_storage storage{};
  socklen_t length = 0;

  /// Makes the address of a Unix socket. The path "@name" is in the abstract namespace.
  static Status ofPath(const std::string &path, Address &result);
  /// Returns a name for messages: "@name", "/a/path" or "rank 0's machine".
  std::string name() const;
  bool isPath() const { return storage.ss_family == AF_UNIX; }
  const sockaddr *get() const { return reinterpret_cast<const sockaddr *>(&storage); }
};

enum class FrameKind : uint32_t {
  Hello,   ///< sent to rank 0's process: the ranks of the sender
  Welcome, ///< the communicator is complete: the list of its processes
  Refuse,  ///< the communicator cannot be made: the reason as text
  Data,    ///< a process's message of a round
  Abort,   ///< the code and text of a failure
  Leave,   ///< a process announces the end of its part
  Lost,    ///< a process ended without leaving
};

struct FrameHeader {
  uint32_t magic = 0;
  FrameKind kind = FrameKind::Hello;
  uint32_t process = 0; ///< the sender of the frame, or the process that the frame is about
  uint32_t round = 0;
  uint32_t bytes = 0; ///< size of the payload
};

struct Frame {
  FrameHeader header;
  Bytes payload;
  std::vector<File> files;
};

/// Largest payload of a frame, in bytes. Messages are much smaller, so a longer frame is an error.
inline constexpr size_t maxPayload = size_t{64} << 20;
/// Most descriptors in a frame: as many as Linux allows.
inline constexpr size_t maxFiles = 253;

enum class Received { Frame, Nothing, Closed };

/// One end of a connection.
class Connection {
public:
  Connection() = default;
  explicit Connection(File socket) : socket_(std::move(socket)) {}

  /// Connects, and tries again until `deadline` if that fails.
  static Status to(const Address &address, Clock::time_point deadline, Connection &result);
  /// Accepts a connection. On one machine, the other process must belong to the same user.
  static Status from(const File &listener, Connection &result);

  int file() const { return socket_.get(); }
  bool valid() const { return socket_.valid(); }
  /// Returns the number that the process at the other end has in this process's namespace. 0 if it is not known: the
  /// process is on another machine, or in a namespace that is not visible from here.
  pid_t process() const;

  /// Sends a frame. Returns false if that failed, because the other end is gone or there are too many files.
  bool send(FrameHeader header, const Bytes &payload, const std::vector<int> &files = {}) const;
  /// Receives without waiting. A frame with more than `most` bytes of payload, or of another version, counts as closed.
  Received receive(Frame &frame, size_t most = maxPayload);
  /// Waits for a frame until `deadline`. Fails if the other end closes.
  Status await(Clock::time_point deadline, Frame &frame);

private:
  File socket_;
  Bytes heard_; ///< the beginning of a frame; the files that came with it are in `files_`
  std::vector<File> files_;
};

/// Listens at `address`, and sets its port. Replaces a socket file at which nobody listens any more.
Status listenAt(Address &address, File &socket);

/// Returns the milliseconds until `deadline` for poll(2): 0 if it has passed.
int millisecondsUntil(Clock::time_point deadline);

} // namespace mscclc::rt
