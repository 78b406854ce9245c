#include "calibrate.h"

#include <cstdio>

namespace mscclc::perf {

int calibrate(const Options &) {
  std::fprintf(stderr,
               "mscclc-perf: --calibrate needs the time model, and this program was built without it: build all "
               "of mscclc\n");
  return 1;
}

} // namespace mscclc::perf
