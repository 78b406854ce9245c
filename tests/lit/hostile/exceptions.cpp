// Exceptions.
// RUN: rm -f %t
// RUN: not mscclc %s -o %t 2>&1 | FileCheck %s
// RUN: test ! -e %t
#include <mscclc/dsl.hpp>

MSCCLC_ALGORITHM void f(int ranks = 1) {
  // CHECK-DAG: exceptions.cpp:[[#@LINE+1]]:3: error: exceptions are not part of the language: an algorithm that cannot go on ends with assert() of <cassert>
  try {
    if (ranks < 2)
      // CHECK-DAG: exceptions.cpp:[[#@LINE+1]]:7: error: exceptions are not part of the language
      throw ranks;
  } catch (...) {
  }
}
