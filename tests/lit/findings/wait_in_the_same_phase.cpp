// The handshake is there, but its wait asks for no sync behind it.
// RUN: rm -f %t
// RUN: not mscclc %s -o %t 2>&1 | FileCheck %s
// RUN: test ! -e %t
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void gather(int ranks = 2) {
  CollectiveProgram program("wait_in_the_same_phase", AllGather(ranks, 1, true));
  for (int src = 0; src < ranks; ++src)
    for (int dst = 0; dst < ranks; ++dst) {
      if (src == dst)
        continue;
      MemoryChannel channel(dst, src);
      channel.signal(tb(0), {.sync = Sync::None, .relaxed = true});
      channel.wait(tb(0), {.sync = Sync::None, .relaxed = true});
      channel.put(Rank(dst).output()[src], Rank(src).output()[src], tb(0));
      channel.signal(tb(0), {.sync = Sync::Before});
      channel.wait(tb(0), {.sync = Sync::After});
    }
}

// CHECK: wait_in_the_same_phase.cpp:[[#@LINE-6]]:15: error: rank 1, block 0 may write output[1] of rank 0 before rank 0 begins its launch
// CHECK: wait_in_the_same_phase.cpp:[[#@LINE-7]]:15: note: the relaxed wait is in the same phase as the access after it: Sync::After of the relaxed wait would order them
