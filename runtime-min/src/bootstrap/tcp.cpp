#include "bootstrap/tcp.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <ifaddrs.h>
#include <memory>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <thread>

namespace mscclc::rt {
namespace {

/// NCCL_SOCKET_IFNAME; "" where the user does not say.
std::string wantedInterfaces() {
  const char *const set = std::getenv("NCCL_SOCKET_IFNAME");
  return set == nullptr ? "" : set;
}

/// Whether interfaces like `rest` allow one: "eth,ib" are prefixes, "=eth0" is a name, "^docker" forbids.
bool isAllowed(std::string rest, const std::string &name) {
  const bool forbids = !rest.empty() && rest[0] == '^';
  const bool whole = rest.size() > (forbids ? 1u : 0u) && rest[forbids ? 1 : 0] == '=';
  rest.erase(0, (forbids ? 1 : 0) + (whole ? 1 : 0));
  if (rest.empty())
    return true;
  for (size_t at = 0; at <= rest.size();) {
    const size_t end = std::min(rest.find(',', at), rest.size());
    const std::string one = rest.substr(at, end - at);
    if (!one.empty() && (whole ? name == one : name.compare(0, one.size(), one) == 0))
      return !forbids;
    at = end + 1;
  }
  return forbids;
}

/// Other machines reach neither the loopback nor the bridge of this machine's containers.
bool isUsable(const ifaddrs &entry, const std::string &wanted) {
  const bool isNamed = !wanted.empty() && wanted[0] != '^';
  if (entry.ifa_addr == nullptr || (entry.ifa_flags & IFF_UP) == 0 || (entry.ifa_flags & IFF_RUNNING) == 0 ||
      (!isNamed && (entry.ifa_flags & IFF_LOOPBACK) != 0))
    return false;
  const int family = entry.ifa_addr->sa_family;
  const auto *address = reinterpret_cast<const sockaddr_in6 *>(entry.ifa_addr);
  const bool reaches = family == AF_INET || (family == AF_INET6 && !IN6_IS_ADDR_LINKLOCAL(&address->sin6_addr));
  return reaches && isAllowed(wanted.empty() ? "^docker" : wanted, entry.ifa_name);
}

socklen_t lengthOf(int family) {
  return family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
}

/// IPv4 before IPv6, as networks of clusters have it at the least.
Status findOwnAddress(sockaddr_storage &result) {
  const std::string wanted = wantedInterfaces();
  result = {};
  auto &loopback = reinterpret_cast<sockaddr_in &>(result);
  loopback.sin_family = AF_INET;
  loopback.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ifaddrs *all = nullptr;
  if (::getifaddrs(&all) != 0)
    return wanted.empty() ? Status{} : systemFailure("rendezvous: getifaddrs");
  bool found = wanted.empty();
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owned(all, &::freeifaddrs);
  for (const int family : {AF_INET6, AF_INET}) {
    for (const ifaddrs *entry = all; entry != nullptr; entry = entry->ifa_next) {
      if (!isUsable(*entry, wanted) || entry->ifa_addr->sa_family != family)
        continue;
      result = {};
      std::memcpy(&result, entry->ifa_addr, lengthOf(family));
      found = true;
      break;
    }
  }
  return found ? Status{}
               : failure(MSCCLC_ERROR_RENDEZVOUS,
                         "rendezvous: no interface that is up is allowed by NCCL_SOCKET_IFNAME='%s'", wanted.c_str());
}

/// One attempt. Leaves errno.
bool connectUntil(const addrinfo &to, Clock::time_point deadline, File &socket) {
  socket = File(::socket(to.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.valid())
    return false;
  if (::connect(socket.get(), to.ai_addr, to.ai_addrlen) != 0) {
    if (errno != EINPROGRESS)
      return false;
    pollfd entry{socket.get(), POLLOUT, 0};
    while (::poll(&entry, 1, millisecondsUntil(deadline)) < 0 && errno == EINTR)
      continue;
    int error = ETIMEDOUT;
    socklen_t length = sizeof(error);
    if (entry.revents != 0 && ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &length) != 0)
      return false;
    if (error != 0) {
      errno = error;
      return false;
    }
  }
  const int flags = ::fcntl(socket.get(), F_GETFL);
  return flags >= 0 && ::fcntl(socket.get(), F_SETFL, flags & ~O_NONBLOCK) == 0;
}

} // namespace

Status listenOnNetwork(File &socket, std::string &address) {
  sockaddr_storage own;
  MSCCLC_TRY(findOwnAddress(own));
  auto *where = reinterpret_cast<sockaddr *>(&own);
  socklen_t length = lengthOf(own.ss_family);
  socket = File(::socket(own.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  std::array<char, 64> host{}, port{};
  if (!socket.valid() || ::bind(socket.get(), where, length) != 0 || ::listen(socket.get(), 128) != 0 ||
      ::getsockname(socket.get(), where, &length) != 0)
    return systemFailure("rendezvous: listen on the network");
  if (::getnameinfo(where, length, host.data(), host.size(), port.data(), port.size(),
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return failure(MSCCLC_ERROR_SYSTEM, "rendezvous: this machine's address has no name");
  address = std::string(host.data()) + "/" + port.data();
  return {};
}

Status connectOnNetwork(const std::string &address, Clock::time_point deadline, File &socket) {
  const size_t slash = address.find('/');
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo *found = nullptr;
  if (slash == std::string::npos ||
      ::getaddrinfo(address.substr(0, slash).c_str(), address.substr(slash + 1).c_str(), &hints, &found) != 0)
    return failure(MSCCLC_ERROR_RENDEZVOUS, "rendezvous: '%s' is no address", address.c_str());
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned(found, &::freeaddrinfo);
  while (!connectUntil(*found, deadline, socket)) {
    if (Clock::now() >= deadline)
      return systemFailure("rendezvous: connect to " + address);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  prepareStream(socket);
  return {};
}

void prepareStream(const File &socket) {
  const auto set = [&](int level, int name, int value) {
    static_cast<void>(::setsockopt(socket.get(), level, name, &value, sizeof(value)));
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 10);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set(IPPROTO_TCP, TCP_KEEPCNT, 4);
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, 30000);
  const timeval patience{10, 0}, full{30, 0};
  static_cast<void>(::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)));
  static_cast<void>(::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &full, sizeof(full)));
}

bool isStream(const File &socket) {
  int type = 0;
  socklen_t length = sizeof(type);
  return ::getsockopt(socket.get(), SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_STREAM;
}

bool sendAll(const File &socket, const void *bytes, size_t count) {
  const auto *at = static_cast<const char *>(bytes);
  while (count != 0) {
    const ssize_t sent = ::send(socket.get(), at, count, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR)
      continue;
    if (sent <= 0)
      return false;
    at += sent;
    count -= static_cast<size_t>(sent);
  }
  return true;
}

bool receiveAll(const File &socket, void *bytes, size_t count) {
  auto *at = static_cast<char *>(bytes);
  while (count != 0) {
    const ssize_t got = ::recv(socket.get(), at, count, MSG_WAITALL);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return false;
    at += got;
    count -= static_cast<size_t>(got);
  }
  return true;
}

} // namespace mscclc::rt
