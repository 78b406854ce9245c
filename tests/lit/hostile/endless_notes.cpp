// A loop without end that makes notes: no more is kept of them than is shown.
// UNSUPPORTED: sanitizer
// RUN: rm -f %t
// RUN: %python %S/Inputs/within.py 512 1 %mscclc %s --trace-timeout=1 -o %t 2>&1 | FileCheck %s
// RUN: test ! -e %t
#include <mscclc/dsl.hpp>
using namespace mscclc;

// CHECK-COUNT-1000: note: step
// CHECK: endless_notes.cpp:[[#@LINE+4]]:21: note: only the first 1000 notes of an algorithm are shown, and it makes more
// CHECK: endless_notes.cpp:[[#@LINE+4]]:3: error: the algorithm has not ended after 1 s: is a loop endless here?
// CHECK: 1 error generated
MSCCLC_ALGORITHM void f() {
  CollectiveProgram program("p", AllReduce(2, 2, false));
  for (int i = 0;; ++i)
    note("step {}", i);
}
