#include "frontend/dsl_directory.h"

#include <filesystem>
#include <system_error>

namespace mscclc::frontend {

std::string findDslDirectory(std::pair<std::string, std::string> &tried) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  tried.first = (program.parent_path().parent_path() / "include").string();
  tried.second = MSCCLC_DSL_INCLUDE_DIR;
  for (const std::string &dir : {tried.first, tried.second})
    if (fs::exists(dir + "/mscclc/dsl.hpp", ignored))
      return dir;
  return {};
}

} // namespace mscclc::frontend
