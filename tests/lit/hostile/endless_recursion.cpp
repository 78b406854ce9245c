// Recursion without end.
// RUN: rm -f %t
// RUN: not mscclc %s -o %t 2>&1 | FileCheck %s
// RUN: test ! -e %t
#include <mscclc/dsl.hpp>

static int down(int depth) {
  // CHECK: endless_recursion.cpp:[[#@LINE+2]]:{{[0-9]+}}: error: endless recursion: calls are nested more than 20000 deep
  // CHECK: note: called from here
  return depth < 0 ? 0 : 1 + down(depth / 2);
}
MSCCLC_ALGORITHM void f() { down(1); }
