// Memory that grows without end.
// RUN: rm -f %t
// RUN: not mscclc %s --trace-memory=64M -o %t 2>&1 | FileCheck %s
// RUN: test ! -e %t
#include <mscclc/dsl.hpp>
#include <vector>

MSCCLC_ALGORITHM void f() {
  std::vector<std::vector<int>> all;
  for (;;)
    // CHECK: runaway_allocation.cpp:[[#@LINE+1]]:9: error: the algorithm needs more than 64 MiB of memory
    all.emplace_back(1000);
}
