// ReduceScatter, all pairs: every GPU reads its share from all others and reduces it into its own.
//
// When: one NVLink domain of up to 9 GPUs; in place, no scratch, one step.
//   mscclc reducescatter_allpairs.cpp -P ranks=8 -o plan.json
#include <mscclc/dsl.hpp>
using namespace mscclc;

/// Rank r reduces share r; each of `threadBlocks` blocks does one chunk of the share.
MSCCLC_ALGORITHM void reducescatter_allpairs(int ranks = 8, int threadBlocks = 1) {
  CollectiveProgram program("reducescatter_allpairs", ReduceScatter(ranks, threadBlocks, /*inplace=*/true));

  for (int rank = 0; rank < ranks; ++rank)
    for (int block = 0; block < threadBlocks; ++block) {
      // Each peer signals that it has started this launch. Then its input may be read.
      List<MemoryChannel> channels;
      for (int step = 1; step < ranks; ++step) {
        channels.push_back(MemoryChannel((rank + step) % ranks, rank));
        channels[step - 1].signal(tb(block), {.relaxed = true});
      }
      for (MemoryChannel &channel : channels)
        channel.wait(tb(block), {.sync = Sync::After, .relaxed = true});

      const int index = rank * threadBlocks + block;
      for (int step = 1; step < ranks; ++step)
        channels[step - 1].reduce(Rank(rank).input()[index], {Rank((rank + step) % ranks).input()[index]}, tb(block));

      // All peers have read from here. So the input may be used again when the launch ends.
      for (MemoryChannel &channel : channels)
        channel.signal(tb(block), {.sync = Sync::Before, .relaxed = true});
      for (MemoryChannel &channel : channels)
        channel.wait(tb(block), {.sync = Sync::None, .relaxed = true});
    }
}
