// More memory at once than there may be.
// RUN: rm -f %t
// RUN: not mscclc %s -o %t 2>&1 | FileCheck %s
// RUN: test ! -e %t
#include <mscclc/dsl.hpp>
#include <vector>

MSCCLC_ALGORITHM void f(long size = 1L << 40) {
  // CHECK: huge_allocation.cpp:[[#@LINE+1]]:21: error: the algorithm needs more than 4096 MiB of memory; --trace-memory sets the limit
  std::vector<char> room(size);
}
