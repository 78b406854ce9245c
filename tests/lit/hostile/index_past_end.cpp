// A vector's index past its end is an error at the index, with the chain of calls.
// RUN: rm -f %t
// RUN: not mscclc %s -o %t 2>&1 | FileCheck %s
// RUN: test ! -e %t
#include <mscclc/dsl.hpp>
#include <vector>

static int pick(const std::vector<int> &values, unsigned at) {
  // CHECK: index_past_end.cpp:[[#@LINE+3]]:10: error: index past the end: the standard library's check '__n < this->size()' failed
  // CHECK: index_past_end.cpp:[[#@LINE+7]]:3: note: called from here
  // CHECK: 1 error generated
  return values[at];
}

MSCCLC_ALGORITHM void f() {
  const std::vector<int> values = {1, 2, 3};
  pick(values, 3);
}
