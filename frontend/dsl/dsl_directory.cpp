#include "frontend/dsl/dsl_directory.h"

#include <bit>
#include <filesystem>
#include <sys/auxv.h>
#include <system_error>
#include <utility>

namespace mscclc::frontend {

namespace fs = std::filesystem;

namespace {

/// Returns a folder beside the program's folder; empty if the program's path is unknown. The path comes from the
/// kernel, so /proc need not be mounted.
std::string besideProgram(const char *folder) {
  std::error_code error;
  const fs::path program = fs::canonical(std::bit_cast<const char *>(getauxval(AT_EXECFN)), error);
  return error ? std::string() : (program.parent_path().parent_path() / folder).string();
}

} // namespace

std::vector<std::string> dslDirectories() {
  std::vector<std::string> directories = {MSCCLC_DSL_INCLUDE_DIR};
  if (std::string installed = besideProgram("include"); !installed.empty())
    directories.insert(directories.begin(), std::move(installed));
  return directories;
}

std::string precompiledDslDirectory() {
  return besideProgram("lib/mscclc");
}

std::string packagedClangDirectory() {
  return besideProgram("lib/mscclc/clang");
}

std::string findDslDirectory(const std::vector<std::string> &directories) {
  std::error_code ignored;
  for (const std::string &directory : directories)
    if (fs::exists(directory + "/mscclc/dsl.hpp", ignored))
      return directory;
  return {};
}

} // namespace mscclc::frontend
