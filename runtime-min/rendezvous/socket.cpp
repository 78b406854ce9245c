#include "socket.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <thread>

namespace mscclc::rt {
namespace {

/// Distinguishes other programs and other versions of the protocol.
constexpr uint32_t frameMagic = 0x4d534353u + MSCCLC_ABI_VERSION;

union Control {
  cmsghdr aligned;
  char bytes[CMSG_SPACE(maxFiles * sizeof(int))];
};

File newSocket(const Address &address, int flags = 0) {
  return File(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | flags, 0));
}

/// Makes a connected socket. Returns 0, or the system's error number.
int tryConnect(const Address &address, Clock::time_point deadline, File &socket) {
  socket = newSocket(address, SOCK_NONBLOCK);
  if (::connect(socket.get(), address.get(), address.length) == 0)
    return 0;
  if (errno != EINPROGRESS)
    return errno;
  pollfd entry{socket.get(), POLLOUT, 0};
  while (::poll(&entry, 1, millisecondsUntil(deadline)) < 0 && errno == EINTR)
    continue;
  int error = ETIMEDOUT;
  socklen_t length = sizeof(error);
  if (entry.revents != 0)
    ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &length);
  return error;
}

/// Makes sends block. Over TCP, the death of a machine is noticed within half a minute, sends block for at most 30 s,
/// and small frames are sent at once.
void prepare(const File &socket, bool isTcp) {
  ::fcntl(socket.get(), F_SETFL, ::fcntl(socket.get(), F_GETFL) & ~O_NONBLOCK);
  if (!isTcp)
    return;
  const auto set = [&](int level, int name, auto value) {
    static_cast<void>(::setsockopt(socket.get(), level, name, &value, sizeof(value)));
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(SOL_SOCKET, SO_SNDTIMEO, timeval{30, 0});
  set(IPPROTO_TCP, TCP_KEEPIDLE, 10);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set(IPPROTO_TCP, TCP_KEEPCNT, 4);
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, 30000);
}

} // namespace

int millisecondsUntil(Clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<long long>(left, 0, 1 << 30));
}

std::string Address::name() const {
  if (!isPath())
    return "rank 0's machine";
  const auto *path = reinterpret_cast<const sockaddr_un *>(&storage)->sun_path;
  return *path == '\0' ? "@" + std::string(path + 1) : std::string(path);
}

Status Address::ofPath(const std::string &path, Address &result) {
  result = {};
  auto &address = reinterpret_cast<sockaddr_un &>(result.storage);
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(address.sun_path))
    return failure(MSCCLC_ERROR_ARGUMENT, "rendezvous '%s': a socket's path has 1 to %zu characters", path.c_str(),
                   sizeof(address.sun_path) - 1);
  std::memcpy(address.sun_path, path.data(), path.size());
  result.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + 1);
  if (path[0] == '@') {
    address.sun_path[0] = '\0';
    --result.length;
  }
  return {};
}

Status listenAt(Address &address, File &socket) {
  socket = newSocket(address);
  int result = ::bind(socket.get(), address.get(), address.length);
  const std::string name = address.name();
  struct stat info{};
  if (result != 0 && errno == EADDRINUSE && address.isPath() && ::lstat(name.c_str(), &info) == 0 &&
      S_ISSOCK(info.st_mode)) {
    File probe;
    if (tryConnect(address, Clock::now(), probe) == ECONNREFUSED) {
      ::unlink(name.c_str());
      result = ::bind(socket.get(), address.get(), address.length);
    } else {
      errno = EADDRINUSE;
    }
  }
  socklen_t length = sizeof(address.storage);
  if (result != 0 || ::listen(socket.get(), 128) != 0 ||
      (!address.isPath() && ::getsockname(socket.get(), reinterpret_cast<sockaddr *>(&address.storage), &length) != 0))
    return systemFailure("rendezvous: listen at '" + name + "'");
  return {};
}

Status Connection::to(const Address &address, Clock::time_point deadline, Connection &result) {
  File socket;
  while (const int error = tryConnect(address, deadline, socket)) {
    // The process of rank 0 may start later, and network faults may be temporary.
    if (address.isPath() && error != ENOENT && error != ECONNREFUSED && error != EAGAIN && error != EINTR) {
      errno = error;
      return systemFailure("rendezvous: connect to '" + address.name() + "'");
    }
    if (Clock::now() >= deadline)
      return failure(MSCCLC_ERROR_RENDEZVOUS,
                     "rendezvous: no process listens at '%s'; the process of rank 0 is missing (%s)",
                     address.name().c_str(), std::strerror(error));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  prepare(socket, !address.isPath());
  result = Connection(std::move(socket));
  return {};
}

Status Connection::from(const File &listener, Connection &result) {
  Address other;
  socklen_t length = sizeof(other.storage);
  File socket(::accept4(listener.get(), reinterpret_cast<sockaddr *>(&other.storage), &length, SOCK_CLOEXEC));
  if (!socket.valid())
    return systemFailure("rendezvous: accept");
  ucred peer{};
  length = sizeof(peer);
  if (other.isPath() &&
      (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0 || peer.uid != ::geteuid()))
    return failure(MSCCLC_ERROR_RENDEZVOUS, "rendezvous: a process of another user came (pid %d)",
                   static_cast<int>(peer.pid));
  prepare(socket, !other.isPath());
  result = Connection(std::move(socket));
  return {};
}

pid_t Connection::process() const {
  ucred peer{};
  socklen_t length = sizeof(peer);
  return ::getsockopt(file(), SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.pid > 0 ? peer.pid : 0;
}

bool Connection::send(FrameHeader header, const Bytes &payload, const std::vector<int> &files) const {
  header.magic = frameMagic;
  header.bytes = static_cast<uint32_t>(payload.size());
  iovec parts[2] = {{&header, sizeof(header)}, {const_cast<uint8_t *>(payload.data()), payload.size()}};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  Control control{};
  if (files.size() > maxFiles)
    return false;
  if (!files.empty()) {
    message.msg_control = &control;
    message.msg_controllen = CMSG_SPACE(files.size() * sizeof(int));
    cmsghdr *attached = CMSG_FIRSTHDR(&message);
    attached->cmsg_level = SOL_SOCKET;
    attached->cmsg_type = SCM_RIGHTS;
    attached->cmsg_len = CMSG_LEN(files.size() * sizeof(int));
    std::memcpy(CMSG_DATA(attached), files.data(), files.size() * sizeof(int));
  }
  while (parts[0].iov_len + parts[1].iov_len != 0) {
    const ssize_t sent = ::sendmsg(file(), &message, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR)
      continue;
    if (sent <= 0)
      return false;
    message.msg_control = nullptr; // the files were sent with the first byte
    message.msg_controllen = 0;
    auto left = static_cast<size_t>(sent);
    for (iovec &part : parts) {
      const size_t taken = std::min(left, part.iov_len);
      part = {static_cast<char *>(part.iov_base) + taken, part.iov_len - taken};
      left -= taken;
    }
  }
  return true;
}

Received Connection::receive(Frame &frame, size_t most) {
  for (;;) {
    // Reads nothing beyond a frame's end, so that received files belong to this frame.
    size_t whole = sizeof(frame.header);
    if (heard_.size() >= whole) {
      std::memcpy(&frame.header, heard_.data(), whole);
      if (frame.header.magic != frameMagic || frame.header.bytes > most)
        return Received::Closed;
      whole += frame.header.bytes;
      if (heard_.size() == whole) {
        frame.payload.assign(heard_.begin() + sizeof(frame.header), heard_.end());
        frame.files = std::exchange(files_, {});
        heard_.clear();
        return Received::Frame;
      }
    }
    const size_t before = heard_.size();
    heard_.resize(whole);
    iovec part{heard_.data() + before, whole - before};
    Control control;
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = &control;
    message.msg_controllen = sizeof(control);
    const ssize_t got = ::recvmsg(file(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    heard_.resize(before + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (got <= 0)
      return got < 0 && (errno == EAGAIN || errno == EINTR) ? Received::Nothing : Received::Closed;
    for (cmsghdr *attached = CMSG_FIRSTHDR(&message); attached != nullptr; attached = CMSG_NXTHDR(&message, attached))
      if (attached->cmsg_level == SOL_SOCKET && attached->cmsg_type == SCM_RIGHTS)
        for (size_t at = 0; at + sizeof(int) <= attached->cmsg_len - CMSG_LEN(0); at += sizeof(int)) {
          int descriptor = -1;
          std::memcpy(&descriptor, CMSG_DATA(attached) + at, sizeof(int));
          files_.emplace_back(descriptor);
        }
  }
}

Status Connection::await(Clock::time_point deadline, Frame &frame) {
  for (;;) {
    const Received received = receive(frame);
    if (received == Received::Frame)
      return {};
    if (received == Received::Closed)
      return failure(MSCCLC_ERROR_RENDEZVOUS,
                     "rendezvous: the other end closed the connection, or is of another version");
    if (Clock::now() >= deadline)
      return failure(MSCCLC_ERROR_RENDEZVOUS, "rendezvous: the communicator did not become complete in time");
    pollfd entry{file(), POLLIN, 0};
    ::poll(&entry, 1, std::max(1, millisecondsUntil(deadline)));
  }
}

} // namespace mscclc::rt
