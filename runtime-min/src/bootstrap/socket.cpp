#include "bootstrap/socket.h"

#include "bootstrap/tcp.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <thread>

namespace mscclc::rt {
namespace {

/// Tells apart other programs and other versions of the protocol.
constexpr uint32_t frameMagic = 0x4d534352u + MSCCLC_ABI_VERSION;

Status fillAddress(const std::string &path, sockaddr_un &address, socklen_t &length) {
  address = {};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(address.sun_path))
    return failure(MSCCLC_ERROR_ARGUMENT, "rendezvous '%s': a socket's path has 1 to %zu characters", path.c_str(),
                   sizeof(address.sun_path) - 1);
  std::memcpy(address.sun_path, path.data(), path.size());
  length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + 1);
  if (path[0] == '@') {
    address.sun_path[0] = '\0';
    --length;
  }
  return {};
}

Status newSocket(File &socket) {
  socket = File(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  return socket.valid() ? Status{} : systemFailure("socket");
}

bool answers(const sockaddr_un &address, socklen_t length) {
  File probe;
  return newSocket(probe).ok() && ::connect(probe.get(), reinterpret_cast<const sockaddr *>(&address), length) == 0;
}

} // namespace

int millisecondsUntil(Clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<long long>(left, 0, 1 << 30));
}

Status listenAt(const std::string &path, File &socket) {
  sockaddr_un address;
  socklen_t length = 0;
  MSCCLC_TRY(fillAddress(path, address, length));
  MSCCLC_TRY(newSocket(socket));
  const auto *where = reinterpret_cast<const sockaddr *>(&address);
  int result = ::bind(socket.get(), where, length);
  struct stat info{};
  if (result != 0 && errno == EADDRINUSE && path[0] != '@' && ::lstat(path.c_str(), &info) == 0 &&
      S_ISSOCK(info.st_mode) && !answers(address, length)) {
    ::unlink(path.c_str());
    result = ::bind(socket.get(), where, length);
  }
  if (result != 0)
    return systemFailure("rendezvous: bind to '" + path + "'");
  if (::listen(socket.get(), 128) != 0)
    return systemFailure("rendezvous: listen at '" + path + "'");
  return {};
}

Status connectTo(const std::string &path, Clock::time_point deadline, File &socket) {
  sockaddr_un address;
  socklen_t length = 0;
  MSCCLC_TRY(fillAddress(path, address, length));
  for (;;) {
    MSCCLC_TRY(newSocket(socket));
    if (::connect(socket.get(), reinterpret_cast<const sockaddr *>(&address), length) == 0)
      return {};
    if (errno != ENOENT && errno != ECONNREFUSED && errno != EAGAIN && errno != EINTR)
      return systemFailure("rendezvous: connect to '" + path + "'");
    if (Clock::now() >= deadline)
      return failure(MSCCLC_ERROR_RENDEZVOUS, "rendezvous: nobody listens at '%s'; rank 0's process did not come",
                     path.c_str());
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

Status acceptFrom(const File &listener, File &socket) {
  socket = File(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!socket.valid())
    return systemFailure("rendezvous: accept");
  if (isStream(socket)) {
    prepareStream(socket);
    return {};
  }
  ucred peer{};
  socklen_t length = sizeof(peer);
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0 || peer.uid != ::geteuid())
    return failure(MSCCLC_ERROR_RENDEZVOUS, "rendezvous: a process of another user came (pid %d)",
                   static_cast<int>(peer.pid));
  return {};
}

Status sendFrame(const File &socket, FrameHeader header, const uint8_t *payload, size_t bytes,
                 const std::vector<int> &files) {
  header.magic = frameMagic;
  header.bytes = static_cast<uint32_t>(bytes);
  if (isStream(socket)) {
    const bool sent = sendAll(socket, &header, sizeof(header)) && sendAll(socket, payload, bytes);
    return sent ? Status{} : systemFailure("rendezvous: send");
  }
  iovec parts[2] = {{&header, sizeof(header)}, {const_cast<uint8_t *>(payload), bytes}};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = bytes != 0 ? 2 : 1;
  alignas(cmsghdr) char control[CMSG_SPACE(maxFiles * sizeof(int))];
  if (!files.empty()) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(files.size() * sizeof(int));
    cmsghdr *attached = CMSG_FIRSTHDR(&message);
    attached->cmsg_level = SOL_SOCKET;
    attached->cmsg_type = SCM_RIGHTS;
    attached->cmsg_len = CMSG_LEN(files.size() * sizeof(int));
    std::memcpy(CMSG_DATA(attached), files.data(), files.size() * sizeof(int));
  }
  for (;;) {
    if (::sendmsg(socket.get(), &message, MSG_NOSIGNAL) >= 0)
      return {};
    if (errno != EINTR)
      return systemFailure("rendezvous: send");
  }
}

/// A frame of a stream, once its beginning is there.
static Received receiveFromStream(const File &socket, Frame &frame) {
  char first = 0;
  const ssize_t got = ::recv(socket.get(), &first, 1, MSG_PEEK | MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR))
    return Received::Nothing;
  frame.files.clear();
  if (got <= 0 || !receiveAll(socket, &frame.header, sizeof(frame.header)) || frame.header.magic != frameMagic ||
      frame.header.bytes > maxPayload)
    return Received::Closed;
  frame.payload.resize(frame.header.bytes);
  return receiveAll(socket, frame.payload.data(), frame.payload.size()) ? Received::Frame : Received::Closed;
}

Received receiveFrame(const File &socket, Frame &frame) {
  if (isStream(socket))
    return receiveFromStream(socket, frame);
  frame.payload.resize(maxPayload);
  frame.files.clear();
  iovec parts[2] = {{&frame.header, sizeof(frame.header)}, {frame.payload.data(), frame.payload.size()}};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  alignas(cmsghdr) char control[CMSG_SPACE(maxFiles * sizeof(int))];
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  const ssize_t got = ::recvmsg(socket.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (got < 0)
    return errno == EAGAIN || errno == EINTR ? Received::Nothing : Received::Closed;
  for (cmsghdr *attached = CMSG_FIRSTHDR(&message); attached != nullptr; attached = CMSG_NXTHDR(&message, attached))
    if (attached->cmsg_level == SOL_SOCKET && attached->cmsg_type == SCM_RIGHTS)
      for (size_t i = 0; i < (attached->cmsg_len - CMSG_LEN(0)) / sizeof(int); ++i) {
        int descriptor = -1;
        std::memcpy(&descriptor, CMSG_DATA(attached) + i * sizeof(int), sizeof(int));
        frame.files.emplace_back(descriptor);
      }
  // A peer that speaks another protocol is as good as gone.
  if (static_cast<size_t>(got) < sizeof(frame.header) || frame.header.magic != frameMagic)
    return Received::Closed;
  frame.payload.resize(static_cast<size_t>(got) - sizeof(frame.header));
  return Received::Frame;
}

Received hearFrame(const File &socket, size_t bytes, Bytes &heard, Frame &frame) {
  if (!isStream(socket))
    return receiveFrame(socket, frame);
  const size_t before = heard.size(), whole = sizeof(frame.header) + bytes;
  heard.resize(whole);
  const ssize_t got = ::recv(socket.get(), heard.data() + before, whole - before, MSG_DONTWAIT);
  heard.resize(before + static_cast<size_t>(std::max<ssize_t>(got, 0)));
  if (got < 0 && (errno == EAGAIN || errno == EINTR))
    return Received::Nothing;
  if (got <= 0)
    return Received::Closed;
  if (heard.size() < sizeof(frame.header))
    return Received::Nothing;
  std::memcpy(&frame.header, heard.data(), sizeof(frame.header));
  if (frame.header.magic != frameMagic || frame.header.bytes != bytes)
    return Received::Closed;
  frame.files.clear();
  frame.payload.assign(heard.begin() + sizeof(frame.header), heard.end());
  return heard.size() == whole ? Received::Frame : Received::Nothing;
}

Status awaitFrame(const File &socket, Clock::time_point deadline, Frame &frame) {
  for (;;) {
    switch (receiveFrame(socket, frame)) {
    case Received::Frame:
      return {};
    case Received::Closed:
      return failure(MSCCLC_ERROR_RENDEZVOUS,
                     "rendezvous: the other end closed the connection, or is of another version");
    case Received::Nothing:
      break;
    }
    if (Clock::now() >= deadline)
      return failure(MSCCLC_ERROR_RENDEZVOUS, "rendezvous: the communicator did not become complete in time");
    pollfd entry{socket.get(), POLLIN, 0};
    ::poll(&entry, 1, std::max(1, millisecondsUntil(deadline)));
  }
}

} // namespace mscclc::rt
