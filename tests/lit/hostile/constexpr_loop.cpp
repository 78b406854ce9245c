// A constant that takes forever to compute.
// RUN: rm -f %t
// RUN: not mscclc %s -o %t 2>&1 | FileCheck %s
// RUN: test ! -e %t
#include <mscclc/dsl.hpp>

constexpr int endless() {
  int i = 0;
  while (true)
    i = 1 - i;
  return i;
}
// CHECK: constexpr_loop.cpp:[[#@LINE+1]]:15: error: constexpr variable 'value' must be initialized by a constant expression
constexpr int value = endless();

MSCCLC_ALGORITHM void f() {}
