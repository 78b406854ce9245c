#include <mscclc/dsl.hpp>

#include <project.h>

#ifndef FORCED
#define FORCED 2
#endif

MSCCLC_ALGORITHM void algorithm() {
  mscclc::CollectiveProgram program(NAME, mscclc::AllGather(FORCED, CHUNKS, false));
}
