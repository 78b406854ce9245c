// A function without its return statement.
// RUN: rm -f %t
// RUN: not mscclc %s -o %t 2>&1 | FileCheck %s
// RUN: test ! -e %t
#include <mscclc/dsl.hpp>

// CHECK: missing_return.cpp:[[#@LINE+1]]:5: error: a function that returns a value ends without a return statement
int pick(int x) {
  if (x > 2)
    return 1;
}
MSCCLC_ALGORITHM void f() { pick(1); }
