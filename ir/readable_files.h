// The files that may be read or shown because of an input. A source includes files, and may name any file in its
// locations.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

namespace mscclc::ir {

/// A set of files: single files, and all files below some folders. Links are followed, so the real place of a file
/// counts. Folders are looked up when the set is first asked for a file.
class ReadableFiles {
public:
  /// Adds all files below the folder `path`. Adds nothing if there is no such folder.
  void addFolder(std::string path);
  /// One file.
  void addFile(std::string path);

  /// True if `path` is in the set. For a file that does not exist, the place where it would be decides. So the answer
  /// does not reveal whether the file exists.
  bool holds(const std::string &path) const;
  /// True if the set has file `name` both in `folder` and in each added folder.
  bool holdsEverywhere(const std::string &folder, const std::string &name) const;

private:
  void lookUp() const;
  const std::string &realFolder(const std::string &path) const;
  std::string realPath(const std::string &path) const;

  std::vector<std::string> addedFolders_, addedFiles_; ///< paths that the caller added
  mutable bool isLookedUp_ = false;
  mutable std::vector<std::string> folders_, files_; ///< the real paths of these; folders have no slash at the end
  mutable std::unordered_map<std::string, std::string> known_;
};

/// Returns the folder of a file. Looks only at the file's name.
std::string folderOf(const std::string &path);

} // namespace mscclc::ir
