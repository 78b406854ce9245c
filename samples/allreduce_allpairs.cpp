// AllReduce, all pairs: every GPU reads and reduces its share from all others, then puts the sum back to them.
//
// When: one NVLink domain of up to 9 GPUs, medium and large messages; in place, no scratch.
//   mscclc allreduce_allpairs.cpp -P ranks=8 -o plan.json
#include <mscclc/dsl.hpp>
using namespace mscclc;

/// Rank r reduces share r of the buffer. Each of `threadBlocks` blocks does one chunk of that share.
MSCCLC_ALGORITHM void allreduce_allpairs(int ranks = 8, int threadBlocks = 8) {
  CollectiveProgram program("allreduce_allpairs", AllReduce(ranks, threadBlocks, /*inplace=*/true));

  for (int rank = 0; rank < ranks; ++rank)
    for (int block = 0; block < threadBlocks; ++block) {
      List<MemoryChannel> channels;
      for (int step = 1; step < ranks; ++step)
        channels.push_back(MemoryChannel((rank + step) % ranks, rank));

      // The peers have started this launch, so their inputs may be read.
      for (MemoryChannel &channel : channels)
        channel.signal(tb(block), {.relaxed = true});
      for (MemoryChannel &channel : channels)
        channel.wait(tb(block), {.sync = Sync::After, .relaxed = true});

      const int index = rank * threadBlocks + block;
      Chunk share = Rank(rank).input()[index];
      for (int step = 1; step < ranks; ++step)
        channels[step - 1].reduce(share, {Rank((rank + step) % ranks).input()[index]}, tb(block));
      for (int step = 1; step < ranks; ++step)
        channels[step - 1].put(Rank((rank + step) % ranks).input()[index], share, tb(block));

      // Every peer has put its share here.
      for (MemoryChannel &channel : channels)
        channel.signal(tb(block), {.sync = Sync::Before});
      for (MemoryChannel &channel : channels)
        channel.wait(tb(block), {.sync = Sync::After});
    }
}
