// Starting programs, the environment, random numbers.
// RUN: rm -f %t
// RUN: not mscclc %s -o %t 2>&1 | FileCheck %s
// RUN: test ! -e %t
#include <mscclc/dsl.hpp>
#include <cstdlib>

MSCCLC_ALGORITHM void f() {
  // CHECK: system.cpp:[[#@LINE+1]]:8: error: 'system' has no definition here
  std::system("touch escaped");
  // CHECK: system.cpp:[[#@LINE+1]]:8: error: 'getenv' has no definition here
  std::getenv("HOME");
  // CHECK: system.cpp:[[#@LINE+1]]:3: error: 'rand' has no definition here
  rand();
  // CHECK: 3 errors generated
}
