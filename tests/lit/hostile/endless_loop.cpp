// A loop without end is found at the loop.
// RUN: rm -f %t
// RUN: not mscclc %s --trace-timeout=0.5 -o %t 2>&1 | FileCheck %s
// RUN: test ! -e %t
#include <mscclc/dsl.hpp>

MSCCLC_ALGORITHM void f() {
  unsigned i = 0;
  // CHECK: endless_loop.cpp:[[#@LINE+1]]:3: error: the algorithm has not ended after 0.5 s: is a loop endless here?
  while (true)
    ++i;
}
