// A constant that takes forever to compute.
// RUN: rm -f %t
// RUN: not mscclc %s -o %t 2>&1 | FileCheck %s
// RUN: test ! -e %t
#include <mscclc/dsl.hpp>

// CHECK: constexpr_loop.cpp:[[#@LINE+1]]:15: error: constexpr function never produces a constant expression
constexpr int endless() {
  int i = 0;
  while (true)
    i = 1 - i;
  return i;
}
constexpr int value = endless();

MSCCLC_ALGORITHM void f() {}
// CHECK: 1 error generated
