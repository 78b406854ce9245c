#include "bootstrap/tcp.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ifaddrs.h>
#include <memory>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <thread>

namespace mscclc::rt {
namespace {

/// Whether NCCL_SOCKET_IFNAME allows an interface: "eth,ib" are prefixes, "=eth0" is a name, "^docker" forbids.
bool isAllowed(std::string name) {
  const char *const set = std::getenv("NCCL_SOCKET_IFNAME");
  std::string rest = set == nullptr ? "" : set;
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

bool isUsable(const ifaddrs &entry) {
  if (entry.ifa_addr == nullptr || (entry.ifa_flags & IFF_UP) == 0 || (entry.ifa_flags & IFF_LOOPBACK) != 0)
    return false;
  if (entry.ifa_addr->sa_family == AF_INET6) {
    const auto *address = reinterpret_cast<const sockaddr_in6 *>(entry.ifa_addr);
    return !IN6_IS_ADDR_LINKLOCAL(&address->sin6_addr) && isAllowed(entry.ifa_name);
  }
  return entry.ifa_addr->sa_family == AF_INET && isAllowed(entry.ifa_name);
}

socklen_t lengthOf(int family) {
  return family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
}

/// IPv4 before IPv6, as networks of clusters have it at the least.
sockaddr_storage ownAddress() {
  sockaddr_storage result{};
  auto &loopback = reinterpret_cast<sockaddr_in &>(result);
  loopback.sin_family = AF_INET;
  loopback.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ifaddrs *all = nullptr;
  if (::getifaddrs(&all) != 0)
    return result;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owned(all, &::freeifaddrs);
  for (const int family : {AF_INET6, AF_INET}) {
    for (const ifaddrs *entry = all; entry != nullptr; entry = entry->ifa_next) {
      if (!isUsable(*entry) || entry->ifa_addr->sa_family != family)
        continue;
      result = {};
      std::memcpy(&result, entry->ifa_addr, lengthOf(family));
      break;
    }
  }
  return result;
}

} // namespace

Status listenOnNetwork(File &socket, std::string &address) {
  sockaddr_storage own = ownAddress();
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
  for (;;) {
    socket = File(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (socket.valid() && ::connect(socket.get(), found->ai_addr, found->ai_addrlen) == 0)
      break;
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
  const timeval patience{10, 0};
  static_cast<void>(::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)));
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
