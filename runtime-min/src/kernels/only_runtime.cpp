#include "kernels/only_runtime.h"

#include <atomic>
#include <dlfcn.h>
#include <link.h>
#include <string>
#include <vector>

extern "C" const char *mscclc_runtime_in_use(void);

namespace mscclc::rt {
namespace {

using InUse = const char *(*)();

std::atomic<bool> isUsed{false};

/// Returns the file that contains a function; "" if there is none.
const char *fileOf(const void *function) {
  Dl_info info{};
  return ::dladdr(function, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

const char *ownFile() {
  return fileOf(reinterpret_cast<const void *>(&isUsed));
}

/// Returns the file of another runtime that the process uses; empty if there is none.
std::string otherInUse() {
  std::vector<std::string> names; // objects are opened after the iteration, because the list must not change during it
  ::dl_iterate_phdr(
      [](dl_phdr_info *object, size_t, void *all) {
        if (object->dlpi_name != nullptr && *object->dlpi_name != '\0')
          static_cast<std::vector<std::string> *>(all)->emplace_back(object->dlpi_name);
        return 0;
      },
      &names);
  std::string other;
  for (const std::string &name : names) {
    void *const handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_NOLOAD);
    if (handle == nullptr)
      continue;
    void *const function = ::dlsym(handle, "mscclc_runtime_in_use");
    // dlsym may find the function in another library, with which the object is linked.
    if (function != nullptr && std::string(fileOf(function)) != ownFile())
      if (const char *const file = reinterpret_cast<InUse>(function)(); file != nullptr)
        other = file;
    ::dlclose(handle);
  }
  ::dlerror(); // clears the errors of objects that are gone or lack the function
  return other;
}

} // namespace

Status useRuntime() {
  if (isUsed)
    return {};
  if (const std::string other = otherInUse(); !other.empty())
    return failure(MSCCLC_ERROR_LOAD, "two runtimes of mscclc in one process: %s is in use, and this is %s",
                   other.c_str(), ownFile());
  isUsed = true;
  return {};
}

} // namespace mscclc::rt

const char *mscclc_runtime_in_use(void) {
  return mscclc::rt::isUsed ? mscclc::rt::ownFile() : nullptr;
}
