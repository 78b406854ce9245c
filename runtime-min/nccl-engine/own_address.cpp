#include "own_address.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ifaddrs.h>
#include <memory>
#include <net/if.h>
#include <netinet/in.h>

namespace mscclc::rt {
namespace {

/// True if `rest`, a value of NCCL_SOCKET_IFNAME, allows interface `name`. "eth,ib" are prefixes, "=eth0" is a whole
/// name, and "^docker" excludes a prefix.
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

/// True if the interface is up and running, and `wanted` allows it. The loopback must be named in `wanted`. If `wanted`
/// is empty, Docker's bridge is left out. Other machines can reach neither of these two.
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

} // namespace

/// Takes IPv4 before IPv6, because networks of clusters have at least IPv4.
Status ownAddress(Address &result) {
  const char *const set = std::getenv("NCCL_SOCKET_IFNAME");
  const std::string wanted = set == nullptr ? "" : set;
  result = {};
  auto &loopback = reinterpret_cast<sockaddr_in &>(result.storage);
  loopback.sin_family = AF_INET;
  loopback.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  result.length = sizeof(sockaddr_in);
  ifaddrs *all = nullptr;
  if (::getifaddrs(&all) != 0)
    return wanted.empty() ? Status{} : systemFailure("rendezvous: getifaddrs");
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owned(all, &::freeifaddrs);
  for (const int family : {AF_INET, AF_INET6})
    for (const ifaddrs *entry = all; entry != nullptr; entry = entry->ifa_next) {
      if (!isUsable(*entry, wanted) || entry->ifa_addr->sa_family != family)
        continue;
      result = {};
      result.length = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
      std::memcpy(&result.storage, entry->ifa_addr, result.length);
      return {};
    }
  return wanted.empty()
             ? Status{}
             : failure(MSCCLC_ERROR_RENDEZVOUS,
                       "rendezvous: no interface that is up is allowed by NCCL_SOCKET_IFNAME='%s'", wanted.c_str());
}

} // namespace mscclc::rt
