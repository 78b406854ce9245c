// Everybody waits first: the cycle is told.
// RUN: rm -f %t
// RUN: not mscclc %s -o %t 2>&1 | FileCheck %s
// RUN: test ! -e %t
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void ring(int ranks = 3) {
  CollectiveProgram program("waits_in_a_ring", SendRecv(ranks, 1, false));
  List<MemoryChannel> to, from;
  for (int r = 0; r < ranks; ++r) {
    to.push_back(MemoryChannel((r + 1) % ranks, r));
    from.push_back(MemoryChannel((r + ranks - 1) % ranks, r));
  }
  for (int r = 0; r < ranks; ++r) {
    from[r].wait(tb(0), {.sync = Sync::After});
    from[r].signal(tb(0), {.relaxed = true});
    to[r].wait(tb(0), {.sync = Sync::After, .relaxed = true});
    to[r].put(Rank((r + 1) % ranks).output()[0], Rank(r).input()[0], tb(0));
    to[r].signal(tb(0), {.sync = Sync::Before});
  }
}

// CHECK: waits_in_a_ring.cpp:[[#@LINE-8]]:13: error: deadlock: rank 0, block 0 waits for a signal from memory channel 0 of rank 2 (to rank 0), in a cycle of 3 blocks
// CHECK: waits_in_a_ring.cpp:[[#@LINE-9]]:13: note: rank 0, block 0 waits here for a signal from memory channel 0 of rank 2 (to rank 0)
// CHECK: waits_in_a_ring.cpp:[[#@LINE-6]]:11: note: rank 2, block 0 does that only here, after its own wait
// CHECK: waits_in_a_ring.cpp:[[#@LINE-11]]:13: note: rank 2, block 0 waits here for a signal from memory channel 0 of rank 1 (to rank 2)
// CHECK: waits_in_a_ring.cpp:[[#@LINE-8]]:11: note: rank 1, block 0 does that only here, after its own wait
