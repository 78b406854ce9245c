// Output.
// RUN: rm -f %t
// RUN: not mscclc %s -o %t 2>&1 | FileCheck %s
// RUN: test ! -e %t
#include <mscclc/dsl.hpp>
// CHECK: io.cpp:[[#@LINE+1]]:10: error: <iostream> is not part of the language: an algorithm does no input or output
#include <iostream>

MSCCLC_ALGORITHM void f() {
  // CHECK: io.cpp:[[#@LINE+1]]:8: error: 'std::cout' has no definition here
  std::cout << 1;
}
