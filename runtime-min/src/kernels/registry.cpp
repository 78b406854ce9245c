#include "kernels/registry.h"

#include "kernels/kernel_facts.h"
#include "kernels/library_file.h"
#include "kernels/only_runtime.h"

#include <algorithm>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <mutex>
#include <utility>

namespace mscclc::rt {
namespace {

struct Registry {
  std::mutex mutex;
  std::vector<const MscclcKernel *> kernels;
  Status refused; ///< reason why the last refused kernel was not added
};

/// Returns the registry. It is made at the first use, because libraries register themselves before main. It is never
/// destroyed, because libraries may use it later.
Registry &registry() {
  static Registry *const instance = new Registry();
  return *instance;
}

/// Returns the reason why the last kernel was refused, and clears it. Libraries register themselves while they are
/// loaded, and then nobody reads the result.
Status takeRefusal() {
  Registry &r = registry();
  const std::lock_guard<std::mutex> lock(r.mutex);
  return std::exchange(r.refused, {});
}

/// Registers the kernels of a library that did not find this registry.
void registerListed(void *library) {
  using List = const MscclcRegistered *(*)();
  const auto list = reinterpret_cast<List>(::dlsym(library, "mscclc_library_kernels"));
  std::vector<const MscclcKernel *> kernels;
  for (const MscclcRegistered *one = list == nullptr ? nullptr : list(); one != nullptr; one = one->before)
    kernels.push_back(one->kernel);
  for (auto kernel = kernels.rbegin(); kernel != kernels.rend(); ++kernel)
    mscclc_register_kernel(*kernel);
}

Status loadLibrary(const char *path, std::vector<const MscclcKernel *> &found) {
  if (path == nullptr)
    return failure(MSCCLC_ERROR_ARGUMENT, "no path");
  // Without a slash, dlopen would search the system's folders.
  const std::string place = std::strchr(path, '/') == nullptr ? std::string("./") + path : path;
  MSCCLC_TRY(useRuntime());
  MSCCLC_TRY(checkWhole(place.c_str()));
  static_cast<void>(takeRefusal()); // clears the refusal of another library
  ::dlerror();
  void *handle = ::dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) {
    const char *why = ::dlerror();
    return failure(MSCCLC_ERROR_LOAD, "%s", why == nullptr ? path : why);
  }
  registerListed(handle);
  // A kernel belongs to this library if its description is in the library's memory.
  link_map *map = nullptr;
  if (::dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0)
    for (const MscclcKernel *kernel : registeredKernels()) {
      Dl_info info{};
      link_map *home = nullptr;
      if (::dladdr1(kernel, &info, reinterpret_cast<void **>(&home), RTLD_DL_LINKMAP) != 0 && home == map)
        found.push_back(kernel);
    }
  ::dlclose(handle);
  const Status refused = takeRefusal();
  if (found.empty() && !refused.ok())
    return failure(refused.code, "%s: %s", path, refused.text.c_str());
  if (found.empty())
    return failure(MSCCLC_ERROR_LOAD,
                   "%s: holds no kernel that registers itself (mscclc --emit-cuda writes such files; "
                   "not with MSCCLC_NO_AUTO_REGISTER)",
                   path);
  return {};
}

} // namespace

std::vector<const MscclcKernel *> registeredKernels() {
  Registry &r = registry();
  const std::lock_guard<std::mutex> lock(r.mutex);
  return r.kernels;
}

} // namespace mscclc::rt

using namespace mscclc::rt;

extern "C" {

int32_t mscclc_register_kernel(const MscclcKernel *kernel) {
  const Status status = checkDescription(kernel);
  Registry &r = registry();
  const std::lock_guard<std::mutex> lock(r.mutex);
  if (!status.ok()) {
    r.refused = status;
    return report(status);
  }
  if (std::find(r.kernels.begin(), r.kernels.end(), kernel) == r.kernels.end())
    r.kernels.push_back(kernel);
  return MSCCLC_OK;
}

int32_t mscclc_unregister_kernel(const MscclcKernel *kernel) {
  Registry &r = registry();
  const std::lock_guard<std::mutex> lock(r.mutex);
  const auto found = std::find(r.kernels.begin(), r.kernels.end(), kernel);
  if (found == r.kernels.end())
    return report(failure(MSCCLC_ERROR_ARGUMENT, "the kernel is not registered"));
  r.kernels.erase(found);
  return MSCCLC_OK;
}

uint32_t mscclc_kernel_count(void) {
  return static_cast<uint32_t>(registeredKernels().size());
}

const MscclcKernel *mscclc_kernel_at(uint32_t index) {
  const std::vector<const MscclcKernel *> kernels = registeredKernels();
  return index < kernels.size() ? kernels[index] : nullptr;
}

const MscclcKernel *mscclc_find_kernel(const char *name) {
  const std::vector<const MscclcKernel *> kernels = registeredKernels();
  const auto found = std::find_if(kernels.rbegin(), kernels.rend(), [&](const MscclcKernel *kernel) {
    return name != nullptr && std::strcmp(kernel->name, name) == 0;
  });
  return found == kernels.rend() ? nullptr : *found;
}

const char *mscclc_kernel_identity(const MscclcKernel *kernel) {
  static thread_local std::string identity;
  identity = checkDescription(kernel).ok() ? identityOf(*kernel) : "";
  return identity.c_str();
}

int32_t mscclc_load_library(const char *path, const MscclcKernel **kernels, uint32_t capacity, uint32_t *count) {
  std::vector<const MscclcKernel *> found;
  if (kernels == nullptr && capacity != 0)
    return report(failure(MSCCLC_ERROR_ARGUMENT, "nowhere to put the kernels"));
  if (Status status = loadLibrary(path, found); !status.ok())
    return report(status);
  if (count != nullptr)
    *count = static_cast<uint32_t>(found.size());
  std::copy_n(found.begin(), std::min<size_t>(capacity, found.size()), kernels);
  return MSCCLC_OK;
}
}
