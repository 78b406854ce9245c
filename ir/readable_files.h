// Which files an input may have read or shown: a source includes files, and names places in any file it likes.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

namespace mscclc::ir {

/// The files below some folders, wherever links lead: what counts is where a file really lies. Folders are looked up
/// when the first file is asked for.
class ReadableFiles {
public:
  /// All that lies below `path`; nothing where there is no such folder.
  void addFolder(std::string path);
  /// One file.
  void addFile(std::string path);

  /// Whether `path` is one of them. One that is not there is judged by where it would lie, so that the answer does not
  /// tell whether it is there.
  bool holds(const std::string &path) const;
  /// Whether `name` is one of them in `folder` and in each folder added.
  bool holdsEverywhere(const std::string &folder, const std::string &name) const;

private:
  void lookUp() const;
  const std::string &realFolder(const std::string &path) const;
  std::string realPath(const std::string &path) const;

  std::vector<std::string> addedFolders_, addedFiles_; ///< as they were named
  mutable bool isLookedUp_ = false;
  mutable std::vector<std::string> folders_, files_; ///< where they lie, folders without a slash at the end
  mutable std::unordered_map<std::string, std::string> known_;
};

/// The folder of a file, by name alone.
std::string folderOf(const std::string &path);

} // namespace mscclc::ir
