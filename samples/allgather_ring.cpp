// AllGather, ring: every GPU passes on to the next one what it received from the previous one.
//
// When: large messages on links where only neighbours are fast, or to keep each GPU's traffic on one link.
//   mscclc allgather_ring.cpp -P ranks=8 -P threadBlocks=4 -o plan.json
#include <mscclc/dsl.hpp>
using namespace mscclc;

/// Ring of `ranks` GPUs; each of `threadBlocks` blocks carries its own slice of every chunk around.
MSCCLC_ALGORITHM void allgather_ring(int ranks = 4, int threadBlocks = 1) {
  CollectiveProgram program("allgather_ring", AllGather(ranks, threadBlocks, /*inplace=*/true));

  for (int rank = 0; rank < ranks; ++rank) {
    const int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
    auto mine = Rank(rank).output(), theirs = Rank(next).output();

    for (int block = 0; block < threadBlocks; ++block) {
      MemoryChannel toNext(next, rank);
      MemoryChannel toPrevious = ranks == 2 ? toNext : MemoryChannel(previous, rank);

      // The next GPU has started this launch: its output may be written.
      toPrevious.signal(tb(block), {.sync = Sync::None, .relaxed = true});
      toNext.wait(tb(block), {.sync = Sync::After, .relaxed = true});

      for (int step = 0; step + 1 < ranks; ++step) {
        const int share = (rank + ranks - step) % ranks;
        const int chunk = share * threadBlocks + block;
        toNext.put(theirs[chunk], mine[chunk], tb(block));
        toNext.signal(tb(block), {.sync = Sync::Before});
        toPrevious.wait(tb(block), {.sync = Sync::After});
      }
    }
  }
}
