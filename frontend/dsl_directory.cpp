#include "frontend/dsl_directory.h"

#include <filesystem>
#include <system_error>

namespace mscclc::frontend {

namespace fs = std::filesystem;

std::vector<std::string> dslDirectories() {
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  return {(program.parent_path().parent_path() / "include").string(), MSCCLC_DSL_INCLUDE_DIR};
}

std::string findDslDirectory(const std::vector<std::string> &directories) {
  std::error_code ignored;
  for (const std::string &directory : directories)
    if (fs::exists(directory + "/mscclc/dsl.hpp", ignored))
      return directory;
  return {};
}

} // namespace mscclc::frontend
