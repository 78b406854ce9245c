// Operations without end.
// RUN: rm -f %t
// RUN: not mscclc %s --trace-memory=16M -o %t 2>&1 | FileCheck %s
// RUN: test ! -e %t
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void f() {
  CollectiveProgram program("endless", AllGather(2, 1, true));
  MemoryChannel channel(0, 1);
  // CHECK: runaway_recording.cpp:[[#@LINE+1]]:3: error: the algorithm records more than 16 MiB of operations
  for (;;)
    channel.signal(tb(0));
}
