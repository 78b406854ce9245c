// Frames over a Unix socket that keeps message boundaries, with file descriptors beside them; or over TCP without.
#pragma once

#include "bootstrap/file.h"
#include "bytes.h"
#include "status.h"

#include <chrono>
#include <cstdint>
#include <vector>

namespace mscclc::rt {

using Clock = std::chrono::steady_clock;

enum class FrameKind : uint32_t {
  Hello,   ///< to rank 0's process: who comes
  Welcome, ///< the communicator is complete: who is there
  Refuse,  ///< it cannot be: text
  Data,    ///< part of a process's message of a round
  Abort,   ///< code and text
  Leave,   ///< a process is about to end its part
  Lost,    ///< a process ended without leaving
};

struct FrameHeader {
  uint32_t magic = 0;
  FrameKind kind = FrameKind::Hello;
  uint32_t process = 0; ///< whom it is from, or about
  uint32_t round = 0;
  uint32_t bytes = 0; ///< of the payload in this frame
  uint64_t total = 0; ///< bytes of the whole message
};

struct Frame {
  FrameHeader header;
  Bytes payload;
  std::vector<File> files;
};

/// Largest payload of a frame; longer messages are cut.
inline constexpr size_t maxPayload = size_t{48} << 10;
/// Most descriptors in a frame.
inline constexpr size_t maxFiles = 64;

enum class Received { Frame, Nothing, Closed };

/// Listens at `path` ("@name": abstract). A socket file that nobody listens at any more is replaced.
Status listenAt(const std::string &path, File &socket);
/// Connects to `path`, trying again until `deadline`.
Status connectTo(const std::string &path, Clock::time_point deadline, File &socket);
/// Takes a connection; on one machine, of a process of the same user.
Status acceptFrom(const File &listener, File &socket);

Status sendFrame(const File &socket, FrameHeader header, const uint8_t *payload, size_t bytes,
                 const std::vector<int> &files = {});
/// Without waiting.
Received receiveFrame(const File &socket, Frame &frame);
/// The same of one with a payload of `bytes`, from somebody unknown: a frame of another length counts as closed.
/// `heard` keeps what has come of it.
Received hearFrame(const File &socket, size_t bytes, Bytes &heard, Frame &frame);
/// Waits for a frame until `deadline`; fails if the other end closes.
Status awaitFrame(const File &socket, Clock::time_point deadline, Frame &frame);

/// Milliseconds to `deadline` for poll(2): 0 if it has passed.
int millisecondsUntil(Clock::time_point deadline);

} // namespace mscclc::rt
