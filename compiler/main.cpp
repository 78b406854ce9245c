// mscclc: the command-line tool.

#include "compiler/driver.h"
#include "compiler/options.h"

int main(int argc, char **argv) {
  const mscclc::driver::ParsedCommandLine parsed = mscclc::driver::parseCommandLine(argc, argv);
  return parsed.options ? mscclc::driver::run(*parsed.options) : parsed.exitCode;
}
