// AllReduce in one shot: every GPU multicasts all its data as packets, and reduces what it receives.
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void oneshot_multicast(int ranks = 4, int threadBlocks = 4) {
  CollectiveProgram program("oneshot_multicast", AllReduce(ranks, 1, /*inplace=*/true),
                            {.protocol = Protocol::LL, .doubleScratch = true});
  List<int> all;
  List<Buffer> scratch;
  for (int rank = 0; rank < ranks; ++rank) {
    all.push_back(rank);
    scratch.push_back(Buffer(rank, ranks * (ranks + 1)));
  }
  SwitchChannel multicast(all, BufferType::Scratch);
  for (int rank = 0; rank < ranks; ++rank)
    for (int chunk = 0; chunk < ranks; ++chunk) {
      const auto block = tb(chunk % threadBlocks);
      Chunk own = scratch[rank][ranks * ranks + chunk];
      Rank(rank).copyPackets(own, Rank(rank).input()[chunk], block);
      multicast.atRank(rank).broadcastPackets(own, rank * ranks + chunk, 1, block);
      List<Chunk> arrived;
      for (int peer = 0; peer < ranks; ++peer)
        if (peer != rank)
          arrived.push_back(scratch[rank][peer * ranks + chunk]);
      Rank(rank).reduce(Rank(rank).input()[chunk], arrived, block, {.packet = true});
    }
}
