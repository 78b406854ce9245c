// Scatter, direct: the root puts its shares into the outputs of the others.
//
// When: one NVLink domain; the links out of the root are what takes the time, whatever the others do.
//   mscclc scatter_direct.cpp -P ranks=8 -P threadBlocks=4 -o plan.json
#include <mscclc/dsl.hpp>
using namespace mscclc;

/// Each of `threadBlocks` blocks of the root puts one chunk of every share.
MSCCLC_ALGORITHM void scatter_direct(int ranks = 4, int root = 0, int threadBlocks = 1) {
  CollectiveProgram program("scatter_direct", Scatter(ranks, threadBlocks, root, /*inplace=*/true));

  for (int block = 0; block < threadBlocks; ++block)
    for (int step = 1; step < ranks; ++step) {
      const int rank = (root + step) % ranks;
      MemoryChannel toOther(rank, root), toRoot(root, rank);

      // The other GPU has started this launch: its output may be written.
      toRoot.signal(tb(block), {.sync = Sync::None, .relaxed = true});
      toOther.wait(tb(block), {.sync = Sync::After, .relaxed = true});
      toOther.put(Rank(rank).output()[block], Rank(root).input()[rank * threadBlocks + block], tb(block));
      toOther.signal(tb(block), {.sync = Sync::Before});
      toRoot.wait(tb(block), {.sync = Sync::After});
    }
}
