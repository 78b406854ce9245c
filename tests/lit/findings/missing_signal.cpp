// A put that no signal tells of: the peer may end its launch before it.
// RUN: rm -f %t
// RUN: not mscclc %s -o %t 2>&1 | FileCheck %s
// RUN: test ! -e %t
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void gather(int ranks = 4) {
  CollectiveProgram program("missing_signal", AllGather(ranks, 1, true));
  for (int src = 0; src < ranks; ++src)
    for (int dst = 0; dst < ranks; ++dst) {
      if (src == dst)
        continue;
      MemoryChannel channel(dst, src);
      channel.signal(tb(0), {.relaxed = true});
      channel.wait(tb(0), {.sync = Sync::After, .relaxed = true});
      channel.put(Rank(dst).output()[src], Rank(src).output()[src], tb(0));
    }
}

// CHECK: missing_signal.cpp:[[#@LINE-4]]:15: error: rank 0 may end its launch before output[1] of rank 0 is written by rank 1, block 0
// CHECK: missing_signal.cpp:[[#@LINE-5]]:15: note: a signal to rank 0 after the access, and a wait for it (or a barrier with the block that waits) before rank 0 ends, would order them
// CHECK: note: schedule 1: rank 0, block 0 runs up to its operation 2
// CHECK: note: schedule 2: ranks 1 to 3, block 0 run up to their operation 1
// CHECK: rank 0: note: schedule 4: rank 0 has ended its launch; its user reads output[1] of rank 0
// CHECK: missing_signal.cpp:[[#@LINE-9]]:15: note: schedule 6: rank 1, block 0 writes output[1] of rank 0 ('put') only now
// CHECK: mscclc: note: and 8 more like it on other ranks
