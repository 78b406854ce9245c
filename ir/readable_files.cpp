#include "ir/readable_files.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include <sys/stat.h>
#include <unistd.h>

namespace mscclc::ir {
namespace {

/// Returns the path with every link followed; empty if it does not exist.
std::string resolved(const std::string &path) {
  const std::unique_ptr<char, decltype(&std::free)> real(realpath(path.c_str(), nullptr), &std::free);
  return real ? real.get() : "";
}

/// Returns `path` with every link followed, whether the file exists or not. Returns an empty text if a link leads
/// nowhere.
std::string placeOf(const std::string &path) {
  std::string real = resolved(path);
  if (!real.empty())
    return real;
  std::error_code ignored;
  std::filesystem::path there = std::filesystem::absolute(path, ignored), rest;
  while (there.has_relative_path()) {
    struct stat status{};
    if (lstat(there.c_str(), &status) == 0)
      return {};
    rest = rest.empty() ? there.filename() : there.filename() / rest;
    there = there.parent_path();
    if (real = resolved(there); !real.empty())
      return (real / rest).lexically_normal();
  }
  return {};
}

bool isBelow(const std::string &path, const std::string &folder) {
  return path.size() > folder.size() && path[folder.size()] == '/' && path.starts_with(folder);
}

} // namespace

std::string folderOf(const std::string &path) {
  const auto slash = path.rfind('/');
  return slash == path.npos ? "." : path.substr(0, slash + 1);
}

void ReadableFiles::addFolder(std::string path) {
  addedFolders_.push_back(std::move(path));
  isLookedUp_ = false;
}

void ReadableFiles::addFile(std::string path) {
  addedFiles_.push_back(std::move(path));
  isLookedUp_ = false;
}

void ReadableFiles::lookUp() const {
  if (isLookedUp_)
    return;
  isLookedUp_ = true;
  folders_.clear();
  files_.clear();
  for (const std::string &path : addedFolders_)
    if (std::string real = resolved(path); !real.empty())
      folders_.push_back(real == "/" ? std::string() : std::move(real));
  for (const std::string &path : addedFiles_)
    files_.push_back(realPath(path));
}

const std::string &ReadableFiles::realFolder(const std::string &path) const {
  const auto [it, isNew] = known_.try_emplace(path);
  if (isNew)
    it->second = placeOf(path);
  return it->second;
}

std::string ReadableFiles::realPath(const std::string &path) const {
  const auto slash = path.rfind('/');
  const std::string name = path.substr(slash + 1); // without a slash, npos + 1 is 0
  char target = 0;
  // Most files are no links, and their folder was already looked up.
  if (name.empty() || name == "." || name == ".." || readlink(path.c_str(), &target, 1) >= 0)
    return placeOf(path);
  const std::string &folder = realFolder(folderOf(path));
  return folder.empty() ? folder : (folder == "/" ? "" : folder) + "/" + name;
}

bool ReadableFiles::holds(const std::string &path) const {
  lookUp();
  const std::string real = realPath(path);
  return !real.empty() &&
         (std::ranges::any_of(folders_, [&](const std::string &folder) { return isBelow(real, folder); }) ||
          std::ranges::find(files_, real) != files_.end());
}

bool ReadableFiles::holdsEverywhere(const std::string &folder, const std::string &name) const {
  if (name.starts_with('/'))
    return holds(name);
  return holds(folder + "/" + name) &&
         std::ranges::all_of(folders_, [&](const std::string &added) { return holds(added + "/" + name); });
}

} // namespace mscclc::ir
