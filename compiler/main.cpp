// mscclc: the command-line tool.

#include "compiler/driver.h"
#include "compiler/explain_hang.h"
#include "compiler/init.h"
#include "compiler/library.h"
#include "compiler/options.h"

#ifdef MSCCLC_WITH_FRONTEND
#include "compiler/algorithm.h"
#endif

#include <string_view>

int main(int argc, char **argv) {
#ifdef MSCCLC_WITH_FRONTEND
  // Only the build uses this option.
  if (argc == 3 && argv[1] == std::string_view("--precompile-dsl"))
    return mscclc::driver::precompileDsl(argv[2]);
#endif
  if (argc >= 2 && argv[1] == std::string_view("explain-hang"))
    return mscclc::driver::explainHang({argv + 2, argv + argc});
  if (argc >= 2 && argv[1] == std::string_view("init"))
    return mscclc::driver::initProject({argv + 2, argv + argc});
  if (argc >= 2 && (argv[1] == std::string_view("library") || argv[1] == std::string_view("tune")))
    return mscclc::driver::makeLibrary({argv + 1, argv + argc});
  const mscclc::driver::ParsedCommandLine parsed = mscclc::driver::parseCommandLine(argc, argv);
  return parsed.options ? mscclc::driver::run(*parsed.options) : parsed.exitCode;
}
