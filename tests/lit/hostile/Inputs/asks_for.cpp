#include <mscclc/dsl.hpp>
#ifdef WHAT
#include WHAT
#endif
#ifndef NAME
#define NAME "plain"
#endif

MSCCLC_ALGORITHM void algorithm() {
  mscclc::CollectiveProgram program(NAME, mscclc::SendRecv(2, 1, false));
}
