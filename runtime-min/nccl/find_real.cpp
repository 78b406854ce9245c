#include "find_real.h"

#include <climits>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <link.h>
#include <memory>
#include <vector>

namespace mscclc::nccl {
namespace {

namespace fs = std::filesystem;

std::string fileOf(const void *address) {
  Dl_info info{};
  return ::dladdr(address, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

bool isSameFile(const std::string &a, const std::string &b) {
  std::error_code error;
  return fs::equivalent(a, b, error) && !error;
}

bool isOwn(const std::string &file) {
  static const char here = 0;
  return isSameFile(file, fileOf(&here));
}

/// Closes a handle of an object that is already loaded.
struct Close {
  void operator()(void *handle) const { ::dlclose(handle); }
};
using Handle = std::unique_ptr<void, Close>;

/// Returns all loaded objects, the program first.
std::vector<Handle> loadedObjects() {
  std::vector<std::string> names;
  const Handle program(::dlopen(nullptr, RTLD_NOW | RTLD_NOLOAD));
  link_map *map = nullptr;
  if (program && ::dlinfo(program.get(), RTLD_DI_LINKMAP, &map) == 0)
    for (; map != nullptr; map = map->l_next)
      names.emplace_back(map->l_name);
  std::vector<Handle> objects;
  for (const std::string &name : names)
    if (Handle handle(::dlopen(name.empty() ? nullptr : name.c_str(), RTLD_NOW | RTLD_NOLOAD)); handle)
      objects.push_back(std::move(handle));
  ::dlerror(); // clears the error of an object that has no file
  return objects;
}

/// Returns the folders in which the loader searches for the dependencies of an object.
std::vector<std::string> searchPath(void *handle) {
  Dl_serinfo size{};
  if (::dlinfo(handle, RTLD_DI_SERINFOSIZE, &size) != 0)
    return {};
  std::vector<Dl_serinfo> room(size.dls_size / sizeof(Dl_serinfo) + 1);
  Dl_serinfo *const path = room.data();
  *path = size;
  std::vector<std::string> folders;
  if (::dlinfo(handle, RTLD_DI_SERINFO, path) == 0)
    for (unsigned i = 0; i < path->dls_cnt; ++i)
      folders.emplace_back(path->dls_serpath[i].dls_name);
  return folders;
}

/// Returns the files of loaded objects that define both ncclGetVersion and pncclGetVersion, except for this library.
/// Only an NCCL defines both.
std::vector<std::string> loadedNccls() {
  std::vector<std::string> found;
  for (const Handle &object : loadedObjects()) {
    const void *const function = ::dlsym(object.get(), "ncclGetVersion");
    const void *const second = ::dlsym(object.get(), "pncclGetVersion");
    if (function == nullptr || second == nullptr)
      continue;
    const std::string file = fileOf(function);
    if (!file.empty() && file == fileOf(second) && !isOwn(file))
      found.push_back(file);
  }
  return found;
}

} // namespace

std::string findRealLibrary(std::string &why) {
  std::error_code error;
  if (const char *const wanted = std::getenv("MSCCLC_NCCL_LIB_PATH"); wanted != nullptr && *wanted != '\0') {
    const fs::path path = wanted;
    if (!path.is_absolute())
      why = "MSCCLC_NCCL_LIB_PATH is '" + path.string() + "'; it must be an absolute path";
    else if (!fs::is_regular_file(path, error))
      why = "MSCCLC_NCCL_LIB_PATH is '" + path.string() + "', and there is no such file";
    else if (isOwn(path))
      why = "MSCCLC_NCCL_LIB_PATH is '" + path.string() + "', which is this library; name the real NCCL";
    return why.empty() ? path.string() : "";
  }
  if (const std::vector<std::string> loaded = loadedNccls(); !loaded.empty())
    return loaded.front();
  for (const Handle &object : loadedObjects())
    for (const std::string &folder : searchPath(object.get())) {
      const fs::path path = fs::absolute(fs::path(folder) / "libnccl.so.2", error);
      if (fs::is_regular_file(path, error) && !isOwn(path))
        return path;
    }
  why = "no other libnccl.so.2 is on the loader's way; set MSCCLC_NCCL_LIB_PATH to the real NCCL";
  return "";
}

std::string findOtherNccl(const std::string &path) {
  for (const std::string &file : loadedNccls())
    if (!isSameFile(file, path))
      return file;
  return "";
}

} // namespace mscclc::nccl
