// Signed overflow shows its operands.
// RUN: rm -f %t
// RUN: not mscclc %s -o %t 2>&1 | FileCheck %s
// RUN: test ! -e %t
#include <mscclc/dsl.hpp>

MSCCLC_ALGORITHM void f(int start = 2147483640) {
  int sum = start;
  for (int i = 0; i < 10; ++i)
    // CHECK: overflow.cpp:[[#@LINE+1]]:9: error: integer overflow: 2147483640 + 10 cannot be represented in type 'int'
    sum += 10;
  mscclc::Rank rank(sum);
}
