// mscclc: the command-line tool.

#include "compiler/driver.h"
#include "compiler/options.h"

#ifdef MSCCLC_WITH_FRONTEND
#include "compiler/algorithm.h"

#include <string_view>
#endif

int main(int argc, char **argv) {
#ifdef MSCCLC_WITH_FRONTEND
  // Used by the build only.
  if (argc == 3 && argv[1] == std::string_view("--precompile-dsl"))
    return mscclc::driver::precompileDsl(argv[2]);
#endif
  const mscclc::driver::ParsedCommandLine parsed = mscclc::driver::parseCommandLine(argc, argv);
  return parsed.options ? mscclc::driver::run(*parsed.options) : parsed.exitCode;
}
