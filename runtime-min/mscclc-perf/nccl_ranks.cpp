#include "nccl_ranks.h"

#include "device.h"

#include "mscclc/runtime.hpp"

#include <arpa/inet.h>
#include <cstdlib>
#include <dlfcn.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace mscclc::perf {
namespace {

/// The type ncclUniqueId. NCCL passes it by value.
struct UniqueId {
  char bytes[128];
};
constexpr int success = 0;

template <class Function> Function *find(void *library, const char *name) {
  void *const found = ::dlsym(library, name);
  if (found == nullptr)
    throw runtime::Error(MSCCLC_ERROR_NCCL, std::string("this NCCL has no ") + name);
  return reinterpret_cast<Function *>(found);
}

void check(int result, const char *name) {
  if (result != success)
    throw runtime::Error(MSCCLC_ERROR_NCCL, std::string(name) + " fails with ncclResult_t " + std::to_string(result) +
                                                "; NCCL_DEBUG=WARN shows more");
}

/// Returns a free port; 0 if there is none.
uint16_t freePort() {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  const bool known = ::bind(socket, reinterpret_cast<sockaddr *>(&address), length) == 0 &&
                     ::getsockname(socket, reinterpret_cast<sockaddr *>(&address), &length) == 0;
  ::close(socket);
  return known ? ntohs(address.sin_port) : 0;
}

} // namespace

void prepareNccl() {
  if (const uint16_t port = freePort(); port != 0)
    ::setenv("NCCL_COMM_ID", ("127.0.0.1:" + std::to_string(port)).c_str(), 0);
}

NcclRanks::NcclRanks(const std::string &library, uint32_t ranks, uint32_t first, const std::vector<int32_t> &devices)
    : library_(::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (library_ == nullptr)
    throw runtime::Error(MSCCLC_ERROR_NCCL, ::dlerror());
  const auto getUniqueId = find<int(UniqueId *)>(library_, "ncclGetUniqueId");
  const auto init = find<int(void **, int, UniqueId, int)>(library_, "ncclCommInitRank");
  const auto groupStart = find<int()>(library_, "ncclGroupStart");
  const auto groupEnd = find<int()>(library_, "ncclGroupEnd");
  destroy_ = find<int(void *)>(library_, "ncclCommDestroy");
  UniqueId id{};
  check(getUniqueId(&id), "ncclGetUniqueId");
  communicators_.resize(devices.size());
  check(groupStart(), "ncclGroupStart");
  for (size_t i = 0; i < devices.size(); ++i) {
    if (devices[i] != noDevice)
      useDevice(devices[i]);
    check(init(&communicators_[i], static_cast<int>(ranks), id, static_cast<int>(first + i)), "ncclCommInitRank");
  }
  check(groupEnd(), "ncclGroupEnd, after ncclCommInitRank,");
}

NcclRanks::~NcclRanks() {
  for (void *communicator : communicators_)
    destroy_(communicator);
}

} // namespace mscclc::perf
