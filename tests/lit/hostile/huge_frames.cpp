// A stack that is full before the recursion is deep.
// RUN: rm -f %t
// RUN: not mscclc %s -o %t 2>&1 | FileCheck %s
// RUN: test ! -e %t
#include <mscclc/dsl.hpp>

static long down(int depth) {
  char room[1 << 20] = {};
  room[depth & 1023] = 1;
  // CHECK: huge_frames.cpp:[[#@LINE+1]]:20: error: the algorithm's stack of 256 MiB is full
  return room[0] + down(depth + 1);
}
MSCCLC_ALGORITHM void f() { down(1); }
