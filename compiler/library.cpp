#include "compiler/library.h"

#include "compiler/diagnostics.h"
#include "compiler/driver.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>

#include <unistd.h>

namespace mscclc::driver {

namespace fs = std::filesystem;

int makeLibrary(const std::vector<std::string> &arguments) {
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored), folder = program.parent_path();
  for (const char *package : {"../share/mscclc/python", "../../../runtime-min/python"})
    if (const fs::path path = folder / package; fs::exists(path / "mscclc", ignored)) {
      const char *given = std::getenv("PYTHONPATH");
      ::setenv("PYTHONPATH", (path.string() + (given ? ":" + std::string(given) : "")).c_str(), 1);
      break;
    }
  ::setenv("MSCCLC_TOOL", program.c_str(), /*replace=*/0);
  std::vector<std::string> words = {"python3", "-m", "mscclc"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char *> command;
  for (std::string &word : words)
    command.push_back(word.data());
  command.push_back(nullptr);
  ::execvp(command[0], command.data());
  ir::DiagnosticEngine diags;
  diags.report(diag::no_python, {}, {std::strerror(errno)});
  std::cerr << diags.render(/*color=*/false) << std::flush;
  return exitCodeOf(false, diags);
}

} // namespace mscclc::driver
