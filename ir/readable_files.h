// The files that an input may have read or shown. A source includes files, and may name any file in its locations.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

namespace mscclc::ir {

/// The files below some folders. Links are followed, so the real place of a file counts. Folders are looked up when the
/// first file is asked for.
class ReadableFiles {
public:
  /// Adds all files below `path`; none if there is no such folder.
  void addFolder(std::string path);
  /// One file.
  void addFile(std::string path);

  /// True if `path` is one of them. A file that does not exist is judged by the place where it would be. So the answer
  /// does not reveal whether it exists.
  bool holds(const std::string &path) const;
  /// True if file `name` is allowed in `folder` and in each added folder.
  bool holdsEverywhere(const std::string &folder, const std::string &name) const;

private:
  void lookUp() const;
  const std::string &realFolder(const std::string &path) const;
  std::string realPath(const std::string &path) const;

  std::vector<std::string> addedFolders_, addedFiles_; ///< names that the caller gave
  mutable bool isLookedUp_ = false;
  mutable std::vector<std::string> folders_, files_; ///< their real places, folders without a slash at the end
  mutable std::unordered_map<std::string, std::string> known_;
};

/// Returns the folder of a file, from its name alone.
std::string folderOf(const std::string &path);

} // namespace mscclc::ir
