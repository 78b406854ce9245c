// Two reductions in the switch without the synchronisation before the data, as NCCL's contrib/custom_algos measures
// them. Users keep the inputs ready on all GPUs in some other way.
#include <mscclc/dsl.hpp>
using namespace mscclc;

/// Each GPU reduces the whole message. Nothing says when all have read it.
MSCCLC_ALGORITHM void one_shot(int ranks = 4, int threadBlocks = 4) {
  CollectiveProgram program("one_shot", AllReduce(ranks, threadBlocks, /*inplace=*/false));
  List<int> all;
  for (int rank = 0; rank < ranks; ++rank)
    all.push_back(rank);
  for (int block = 0; block < threadBlocks; ++block) {
    SwitchChannel nvls(all, BufferType::Input);
    const int first = block * ranks;
    for (int rank = 0; rank < ranks; ++rank)
      nvls.atRank(rank).reduce(first, ranks, Rank(rank).output().slice(first, first + ranks), tb(block));
  }
}

/// Each GPU reduces its share and broadcasts it. A barrier follows.
MSCCLC_ALGORITHM void two_shots(int ranks = 4, int threadBlocks = 4) {
  CollectiveProgram program("two_shots", AllReduce(ranks, threadBlocks, /*inplace=*/true));
  List<int> all;
  for (int rank = 0; rank < ranks; ++rank)
    all.push_back(rank);
  for (int block = 0; block < threadBlocks; ++block) {
    SwitchChannel nvls(all, BufferType::Input);
    for (int rank = 0; rank < ranks; ++rank) {
      const int index = rank * threadBlocks + block;
      Chunk share = Rank(rank).input()[index];
      nvls.atRank(rank).reduce(index, 1, share, tb(block));
      nvls.atRank(rank).broadcast(share, index, 1, tb(block));
      List<MemoryChannel> channels;
      for (int step = 1; step < ranks; ++step)
        channels.push_back(MemoryChannel((rank + step) % ranks, rank));
      for (MemoryChannel &channel : channels)
        channel.signal(tb(block), {.sync = Sync::Before});
      for (MemoryChannel &channel : channels)
        channel.wait(tb(block), {.sync = Sync::After});
    }
  }
}
