// The same limit for an algorithm.
// RUN: rm -f %t
// RUN: not mscclc %s -P ranks=65537 -o %t 2>&1 | FileCheck %s
// RUN: test ! -e %t
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void f(int ranks = 2) {
  // CHECK: many_ranks.cpp:[[#@LINE+1]]:34: error: a collective of 65537 ranks: it has 1 to 65536
  CollectiveProgram program("p", AllGather(ranks, 1, true));
}
