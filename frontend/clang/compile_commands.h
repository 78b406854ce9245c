// Flags from a project's compile_commands.json.
//
// It says what the source means: macros, the language's version and where headers are. All else in it (what to write,
// to load, to check, to optimise) is the build's own business and is left alone. It is a file that may have come with
// the source, so it does not widen what a source may read: that is for the command line to say.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace llvm::vfs {
class FileSystem;
}

namespace mscclc::frontend {

class SourceReporter;

/// What is taken of the command for one source. Paths are absolute.
struct ProjectFlags {
  std::string folder;                ///< that of the file; empty: it does not name the source, or there is none
  std::vector<std::string> language; ///< -D, -U, -std
  std::vector<std::string> includes; ///< -I, -include and the like
  std::set<std::string> paths;       ///< the folders and files in `includes`, each once there

  bool empty() const { return language.empty() && includes.empty(); }
};

/// The flags for `source` in the nearest compile_commands.json, beside it or in a folder above. The source has to be
/// named there: a command for another file says nothing about it. A file that cannot be used is warned of.
ProjectFlags findProjectFlags(const std::string &source, llvm::vfs::FileSystem &files, SourceReporter &reporter);

} // namespace mscclc::frontend
