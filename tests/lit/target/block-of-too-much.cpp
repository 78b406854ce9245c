// What to do about a block that has too many channels: written by hand, and dealt out by the compiler but for '.on'.
// REQUIRES: frontend
// RUN: not mscclc %samples/allreduce_nvls.cpp -P ranks=24 --machine gb200x72 --target=mscclpp 2>&1 | FileCheck %s --check-prefix=HAND
// HAND: allreduce_nvls.cpp:24:17: error: block 0 of rank 0 uses 23 memory channels; {{.*}} takes 16 of a type: give some to another thread block, with a semaphore where one waits for the other, or bake a kernel (--emit-cuda --target=none)
// RUN: not mscclc %s --machine gb200x72 --target=mscclpp -P pinned=1 2>&1 | FileCheck %s --check-prefix=PINNED
// PINNED: block-of-too-much.cpp:[[#LINE:]]:7: error: block 0 of rank 0 uses 17 memory channels; {{.*}} takes 16 of a type: statements without '.on' are shared out to more blocks, and a baked kernel (--emit-cuda --target=none) has no such limit
// PINNED: block-of-too-much.cpp:[[#LINE]]:7: error: block 0 of rank 0 reaches 17 remote buffers through memory channels; {{.*}} takes 16: statements without '.on'
// RUN: mscclc %s --machine gb200x72 --target=mscclpp --verify -P most=2 | FileCheck %s
// CHECK: proven: 18 ranks
// Of blocks that are too few, that is said, and not that each had too many channels.
// RUN: not mscclc %s --machine gb200x72 --target=mscclpp -P most=1 2>&1 | FileCheck %s --check-prefix=FEW
// FEW: error: rank 0 needs 2 thread blocks, but the program allows it 1: allow more blocks
// FEW: {{^}}1 error generated
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void given(int ranks = 18, int most = 0, int pinned = 0) {
  CollectiveProgram program("given", AllGather(ranks, 1, /*inplace=*/true),
                            {.schedule = Schedule::Auto, .blocks = most});
  for (int rank = 0; rank < ranks; ++rank) {
    List<Chunk> places;
    for (int other = 0; other < ranks; ++other)
      places.push_back(Rank(other).output()[rank]);
    if (pinned == 0)
      copy(places, Rank(rank).output()[rank], {.via = Via::Switch});
    else
      copy(places, Rank(rank).output()[rank], {.via = Via::Memory, .on = tb(0)});
  }
}
