#include "library.h"

#include <chrono>
#include <dlfcn.h>
#include <thread>

namespace mscclc::rt {
namespace {

constexpr int oldest = 22809;

} // namespace

Status NcclLibrary::open(void *handle, NcclLibrary &library) {
  if (handle == nullptr)
    handle = ::dlsym(RTLD_DEFAULT, "ncclGetVersion") != nullptr ? RTLD_DEFAULT
                                                                : ::dlopen("libnccl.so.2", RTLD_LAZY | RTLD_NOLOAD);
  std::string missing;
  const auto find = [&](auto *&function, const char *name, bool needed) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(handle, name));
    if (function == nullptr && needed && missing.empty())
      missing = name;
  };
  find(library.getVersion, "ncclGetVersion", true);
  find(library.getErrorString, "ncclGetErrorString", true);
  find(library.commCount, "ncclCommCount", true);
  find(library.commUserRank, "ncclCommUserRank", true);
  find(library.commCuDevice, "ncclCommCuDevice", true);
  find(library.commGetAsyncError, "ncclCommGetAsyncError", true);
  find(library.groupStart, "ncclGroupStart", true);
  find(library.groupEnd, "ncclGroupEnd", true);
  find(library.allGather, "ncclAllGather", true);
  find(library.memAlloc, "ncclMemAlloc", true);
  find(library.memFree, "ncclMemFree", true);
  find(library.commWindowRegister, "ncclCommWindowRegister", true);
  find(library.commWindowDeregister, "ncclCommWindowDeregister", true);
  find(library.teamLsa, "ncclTeamLsa", true);
  find(library.devCommCreate, "ncclDevCommCreate", false);
  find(library.devCommDestroy, "ncclDevCommDestroy", false);
  find(library.getPeerDevicePointer, "ncclGetPeerDevicePointer", false);
  find(library.getLsaMultimemDevicePointer, "ncclGetLsaMultimemDevicePointer", false);
  if (library.getVersion == nullptr)
    return failure(MSCCLC_ERROR_UNSUPPORTED, "there is no NCCL in this process: link it, or give `nccl_library`");
  library.getVersion(&library.version);
  if (library.version < oldest || !missing.empty())
    return failure(MSCCLC_ERROR_UNSUPPORTED, "NCCL %s %s%s; 2.28.9 or newer is needed", nameOf(library.version).c_str(),
                   missing.empty() ? "is too old" : "has no ", missing.c_str());
  return {};
}

std::string NcclLibrary::nameOf(int version) {
  return format("%d.%d.%d", version / 10000, version / 100 % 100, version % 100);
}

Status NcclLibrary::finish(const char *what, NcclComm comm, int result) const {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (result == ncclInProgressResult) {
    if (std::chrono::steady_clock::now() > end)
      return failure(MSCCLC_ERROR_NCCL, "%s is not through after %lld ms", what,
                     static_cast<long long>(patience.count()));
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    if (const int asked = commGetAsyncError(comm, &result); asked != 0)
      result = asked;
  }
  return result == 0 ? Status{} : failure(MSCCLC_ERROR_NCCL, "%s: %s", what, getErrorString(result));
}

Status NcclLibrary::join(const char *what, int result) const {
  return result == ncclInProgressResult ? Status{} : finish(what, nullptr, result);
}

Status NcclLibrary::finishGroup(const std::vector<NcclComm> &comms, int result) const {
  Status first;
  for (NcclComm comm : comms)
    if (Status one = finish("ncclGroupEnd", comm, result); first.ok())
      first = std::move(one);
  return first;
}

} // namespace mscclc::rt
