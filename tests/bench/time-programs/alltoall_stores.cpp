// AllToAll by stores with a barrier after them and none before, as NCCL's contrib/custom_algos measures it.
#include <mscclc/dsl.hpp>
using namespace mscclc;

/// Each of `threadBlocks` blocks stores its part for every peer, and meets the same block of all peers.
MSCCLC_ALGORITHM void alltoall_stores(int ranks = 8, int threadBlocks = 4) {
  CollectiveProgram program("alltoall_stores", AllToAll(ranks, threadBlocks, /*inplace=*/false));
  for (int rank = 0; rank < ranks; ++rank)
    for (int block = 0; block < threadBlocks; ++block) {
      List<MemoryChannel> channels;
      for (int step = 1; step < ranks; ++step)
        channels.push_back(MemoryChannel((rank + step) % ranks, rank));
      const auto part = [&](int share) { return share * threadBlocks + block; };
      Rank(rank).copy(Rank(rank).output()[part(rank)], Rank(rank).input()[part(rank)], tb(block));
      for (int step = 1; step < ranks; ++step) {
        const int peer = (rank + step) % ranks;
        channels[step - 1].put(Rank(peer).output()[part(rank)], Rank(rank).input()[part(peer)], tb(block));
      }
      for (MemoryChannel &channel : channels)
        channel.signal(tb(block), {.sync = Sync::Before});
      for (MemoryChannel &channel : channels)
        channel.wait(tb(block), {.sync = Sync::After});
    }
}
