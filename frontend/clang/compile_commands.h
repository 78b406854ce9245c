// Takes flags from a project's compile_commands.json.
//
// The flags that determine the meaning of the source are taken: macros, the version of the language, and the folders of
// headers. All others (output, plug-ins, checks, optimisation) only concern the build and are ignored. The file may
// have come with the source. So it does not allow the source to read more files; only the command line does.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace llvm::vfs {
class FileSystem;
}

namespace mscclc::frontend {

class SourceReporter;

/// The flags from the command for one source. Paths are absolute.
struct ProjectFlags {
  std::string folder;                ///< the folder of compile_commands.json; empty if no such file names the source
  std::vector<std::string> language; ///< -D, -U, -std
  std::vector<std::string> includes; ///< -I, -include and the like
  std::set<std::string> paths;       ///< the folders and files in `includes`, each once

  bool empty() const { return language.empty() && includes.empty(); }
};

/// Returns the flags for `source` from the nearest compile_commands.json, beside it or in a folder above. The source
/// must be named there, because a command for another file says nothing about it. Warns about a file that cannot be
/// used.
ProjectFlags findProjectFlags(const std::string &source, llvm::vfs::FileSystem &files, SourceReporter &reporter);

} // namespace mscclc::frontend
