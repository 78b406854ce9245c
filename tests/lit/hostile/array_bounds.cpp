// A plain array's bounds.
// RUN: rm -f %t
// RUN: not mscclc %s -o %t 2>&1 | FileCheck %s
// RUN: test ! -e %t
#include <mscclc/dsl.hpp>

MSCCLC_ALGORITHM void f(int at = 4) {
  int values[4] = {};
  // CHECK: array_bounds.cpp:[[#@LINE+1]]:3: error: index 4 is out of bounds for type 'int[4]'
  values[at] = 1;
}
