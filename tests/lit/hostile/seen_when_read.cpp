// What is undefined and Clang sees while it reads.
// RUN: rm -f %t
// RUN: not mscclc %s -o %t 2>&1 | FileCheck %s
// RUN: test ! -e %t
#include <mscclc/dsl.hpp>

const int &dangling() {
  const int local = 3;
  // CHECK: seen_when_read.cpp:[[#@LINE+1]]:10: error: reference to stack memory associated with local variable 'local' returned
  return local;
}
MSCCLC_ALGORITHM void f() {
  int nothing;
  // CHECK: seen_when_read.cpp:[[#@LINE+1]]:16: error: variable 'nothing' is uninitialized when used here
  mscclc::Rank(nothing + 1);
  int i = 0;
  // CHECK: seen_when_read.cpp:[[#@LINE+1]]:8: error: multiple unsequenced modifications to 'i'
  i = i++ + ++i;
  char to[4];
  // CHECK: seen_when_read.cpp:[[#@LINE+1]]:3: error: 'memset' will always overflow; destination buffer has size 4, but size argument is 400
  __builtin_memset(to, 0, 400);
  // CHECK: seen_when_read.cpp:[[#@LINE+1]]:8: error: 'huge' takes 953 MiB, and the algorithm's stack has 256
  char huge[1000000000];
}
