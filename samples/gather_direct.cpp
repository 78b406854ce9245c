// Gather, direct: every GPU puts its input into the root's output.
//
// When: one NVLink domain; the links into the root are what takes the time, whatever the others do.
//   mscclc gather_direct.cpp -P ranks=8 -P threadBlocks=4 -o plan.json
#include <mscclc/dsl.hpp>
using namespace mscclc;

/// Each of `threadBlocks` blocks of a GPU puts one chunk of its input.
MSCCLC_ALGORITHM void gather_direct(int ranks = 4, int root = 0, int threadBlocks = 1) {
  CollectiveProgram program("gather_direct", Gather(ranks, threadBlocks, root, /*inplace=*/true));

  for (int block = 0; block < threadBlocks; ++block) {
    List<MemoryChannel> fromOthers;
    for (int step = 1; step < ranks; ++step) {
      const int rank = (root + step) % ranks, chunk = rank * threadBlocks + block;
      MemoryChannel toRoot(root, rank);
      fromOthers.push_back(MemoryChannel(rank, root));

      // The root has started this launch: its output may be written.
      toRoot.wait(tb(block), {.sync = Sync::After, .relaxed = true});
      toRoot.put(Rank(root).output()[chunk], Rank(rank).output()[chunk], tb(block));
      toRoot.signal(tb(block), {.sync = Sync::Before});
    }
    for (MemoryChannel &channel : fromOthers)
      channel.signal(tb(block), {.sync = Sync::None, .relaxed = true});
    for (MemoryChannel &channel : fromOthers)
      channel.wait(tb(block), {.sync = Sync::After});
  }
}
