// AllReduce in place by packets, in which one block sends the input and another block overwrites it. Only the data of
// the packets orders the two: the sum that the second block takes was computed from what the first block read.
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void packet_reads(int ranks = 4) {
  CollectiveProgram program("packet_reads", AllReduce(ranks, 1, /*inplace=*/true),
                            {.protocol = Protocol::LL, .doubleScratch = true});
  List<Buffer> scratch; // what the other ranks send, and their sums
  for (int rank = 0; rank < ranks; ++rank)
    scratch.push_back(Buffer(rank, 2 * ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    auto data = Rank(rank).input();
    List<MemoryChannel> channels;
    List<Chunk> arrived;
    for (int step = 1; step < ranks; ++step) {
      const int peer = (rank + step) % ranks;
      channels.push_back(MemoryChannel(peer, rank));
      channels[step - 1].putPackets(scratch[peer][rank], data[peer], tb(0));
      arrived.push_back(scratch[rank][peer]);
    }
    Rank(rank).reduce(data[rank], arrived, tb(0), {.packet = true});
    for (int step = 1; step < ranks; ++step) {
      const int peer = (rank + step) % ranks;
      channels[step - 1].putPackets(scratch[peer][ranks + rank], data[rank], tb(0));
      Rank(rank).unpackPackets(data[peer], scratch[rank][ranks + peer], tb(1));
    }
  }
}
