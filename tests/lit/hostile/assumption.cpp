// Clang checks an assumption since version 22; before, it is refused.
// RUN: not mscclc %s -o %t 2>&1 | FileCheck %s
// RUN: test ! -e %t
#include <mscclc/dsl.hpp>

MSCCLC_ALGORITHM void assume(int value = 0) {
  // CHECK: assumption.cpp:[[#@LINE+1]]:{{26: error: an assumption does not hold|3: error: '__builtin_assume' is not part of the language: nothing checks that it holds}}
  __builtin_assume(value == 5);
}
