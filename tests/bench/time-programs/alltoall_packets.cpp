// AllToAll with packets: no signal, no wait.
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void alltoall_packets(int ranks = 8, int threadBlocks = 4) {
  CollectiveProgram program("alltoall_packets", AllToAll(ranks, 1, /*inplace=*/false),
                            {.protocol = Protocol::LL, .doubleScratch = true});
  List<Buffer> scratch;
  for (int rank = 0; rank < ranks; ++rank)
    scratch.push_back(Buffer(rank, ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    for (int step = 1; step < ranks; ++step) {
      const int peer = (rank + step) % ranks;
      MemoryChannel(peer, rank).putPackets(scratch[peer][rank], Rank(rank).input()[peer], tb(step % threadBlocks));
    }
    Rank(rank).copy(Rank(rank).output()[rank], Rank(rank).input()[rank], tb(0));
    for (int step = 1; step < ranks; ++step) {
      const int peer = (rank + step) % ranks;
      Rank(rank).unpackPackets(Rank(rank).output()[peer], scratch[rank][peer], tb(step % threadBlocks));
    }
  }
}
