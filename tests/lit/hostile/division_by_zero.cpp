// Division by zero, two calls deep.
// RUN: rm -f %t
// RUN: not mscclc %s -o %t 2>&1 | FileCheck %s
// RUN: test ! -e %t
#include <mscclc/dsl.hpp>

// CHECK: division_by_zero.cpp:[[#@LINE+3]]:16: error: division by zero: the dividend is 8
// CHECK: division_by_zero.cpp:[[#@LINE+5]]:3: note: called from here
constexpr int share(int total, int parts) {
  return total / parts;
}
MSCCLC_ALGORITHM void f(int ranks = 8, int nodes = 0) {
  share(ranks, nodes);
}
