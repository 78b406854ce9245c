// A constant whose computation does not end; it comes before the algorithm.
// RUN: rm -f %t
// RUN: not mscclc %s --trace-timeout=0.2 -o %t 2>&1 | FileCheck %s
// RUN: test ! -e %t
#include <mscclc/dsl.hpp>

int never(bool ends) {
  // CHECK: endless_constant.cpp:[[#@LINE+1]]:3: error: the algorithm has not ended after 0.2 s
  while (!ends) {
  }
  return 1;
}
// CHECK: endless_constant.cpp:[[#@LINE+1]]:19: note: called from here
const int value = never(false);
MSCCLC_ALGORITHM void f() { mscclc::Rank rank(value); }
