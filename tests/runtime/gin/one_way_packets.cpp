// AllGather around a ring with packets. Between nodes, the packets use ports that lead only one way.
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void one_way_packets(int nodes = 3, int gpus = 2) {
  const int ranks = nodes * gpus;
  CollectiveProgram program("one_way_packets", AllGather(ranks, 1, /*inplace=*/true),
                            {.protocol = Protocol::LL, .doubleScratch = true});
  List<Buffer> scratch;
  for (int rank = 0; rank < ranks; ++rank)
    scratch.push_back(Buffer(rank, ranks));

  for (int rank = 0; rank < ranks; ++rank) {
    const int next = (rank + 1) % ranks;
    auto data = Rank(rank).output();
    Rank(rank).copyPackets(scratch[rank][rank], data[rank], tb(0));
    for (int step = 0; step < ranks; ++step) {
      const int of = (rank + ranks - step) % ranks;
      if (step + 1 < ranks && next % gpus == 0)
        PortChannel(next, rank).readPutPackets(scratch[next][of], scratch[rank][of], tb(0));
      else if (step + 1 < ranks)
        MemoryChannel(next, rank).readPutPackets(scratch[next][of], scratch[rank][of], tb(0));
      if (step != 0)
        Rank(rank).unpackPackets(data[of], scratch[rank][of], tb(0));
    }
  }
}
