// A launch with very many operations: each of the 32 blocks of a rank puts to its peers again and again.
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void large(int ranks = 8, int blocks = 32, int rounds = 6) {
  CollectiveProgram program("large", AllGather(ranks, blocks, /*inplace=*/true));
  for (int rank = 0; rank < ranks; ++rank)
    for (int block = 0; block < blocks; ++block) {
      List<MemoryChannel> channels;
      for (int step = 1; step < ranks; ++step)
        channels.push_back(MemoryChannel((rank + step) % ranks, rank));
      for (MemoryChannel &channel : channels)
        channel.signal(tb(block), {.relaxed = true});
      for (MemoryChannel &channel : channels)
        channel.wait(tb(block), {.sync = Sync::After, .relaxed = true});
      const int chunk = rank * blocks + block;
      for (int round = 0; round < rounds; ++round) {
        for (int step = 1; step < ranks; ++step)
          channels[step - 1].put(Rank((rank + step) % ranks).output()[chunk], Rank(rank).output()[chunk], tb(block));
        for (MemoryChannel &channel : channels)
          channel.signal(tb(block), {.sync = Sync::Before});
        for (MemoryChannel &channel : channels)
          channel.wait(tb(block), {.sync = Sync::After});
      }
    }
}
