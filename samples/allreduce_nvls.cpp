// AllReduce in the switch: NVLink SHARP reduces and multicasts, each GPU drives its share.
//
// When: H100 or newer with NVSwitch, medium and large messages; every byte crosses each link once.
//   mscclc allreduce_nvls.cpp -P ranks=8 -o plan.json
#include <mscclc/dsl.hpp>
using namespace mscclc;

/// Rank r reduces and broadcasts share r; each of `threadBlocks` blocks does one chunk of it.
MSCCLC_ALGORITHM void allreduce_nvls(int ranks = 8, int threadBlocks = 8) {
  CollectiveProgram program("allreduce_nvls", AllReduce(ranks, threadBlocks, /*inplace=*/true));
  List<int> all;
  for (int rank = 0; rank < ranks; ++rank)
    all.push_back(rank);

  for (int block = 0; block < threadBlocks; ++block) {
    SwitchChannel nvls(all, BufferType::Input);
    for (int rank = 0; rank < ranks; ++rank) {
      List<MemoryChannel> channels;
      for (int step = 1; step < ranks; ++step)
        channels.push_back(MemoryChannel((rank + step) % ranks, rank));

      // The peers have started this launch, so all inputs may be read.
      for (MemoryChannel &channel : channels)
        channel.signal(tb(block), {.relaxed = true});
      for (MemoryChannel &channel : channels)
        channel.wait(tb(block), {.sync = Sync::After, .relaxed = true});

      const int index = rank * threadBlocks + block;
      Chunk share = Rank(rank).input()[index];
      nvls.atRank(rank).reduce(index, 1, share, tb(block));
      nvls.atRank(rank).broadcast(share, index, 1, tb(block));

      // Every peer has written its share here.
      for (MemoryChannel &channel : channels)
        channel.signal(tb(block), {.sync = Sync::Before});
      for (MemoryChannel &channel : channels)
        channel.wait(tb(block), {.sync = Sync::After});
    }
  }
}
