// AllReduce with LL packets: data and flag travel together, so no signal is needed.
//
// When: small messages (up to about 1 MiB), where latency counts: decoding of large models.
//   mscclc allreduce_packets.cpp -P ranks=8 -o plan.json
#include <mscclc/dsl.hpp>
using namespace mscclc;

/// Two shots: every GPU sends each peer its share as packets and adds up what it receives; then it sends the sum as
/// packets. The first shot has one block for each peer. `threadBlocks` blocks reduce, each one chunk of the share.
/// Double scratch keeps the next launch from overwriting packets that are still read.
MSCCLC_ALGORITHM void allreduce_packets(int ranks = 8, int threadBlocks = 4) {
  CollectiveProgram program("allreduce_packets", AllReduce(ranks, threadBlocks, /*inplace=*/true),
                            {.protocol = Protocol::LL, .doubleScratch = true});
  const int shot = ranks * threadBlocks; // chunks of scratch for one shot: one share from every GPU
  List<Buffer> scratch;
  for (int rank = 0; rank < ranks; ++rank)
    scratch.push_back(Buffer(rank, 2 * shot));

  for (int rank = 0; rank < ranks; ++rank) {
    auto data = Rank(rank).input();
    List<MemoryChannel> channels;
    for (int step = 1; step < ranks; ++step)
      channels.push_back(MemoryChannel((rank + step) % ranks, rank));

    for (int step = 1; step < ranks; ++step) {
      const int peer = (rank + step) % ranks;
      channels[step - 1].putPackets(scratch[peer].slice(rank * threadBlocks, (rank + 1) * threadBlocks),
                                    data.slice(peer * threadBlocks, (peer + 1) * threadBlocks), tb(step - 1));
    }

    for (int block = 0; block < threadBlocks; ++block) {
      Chunk share = data[rank * threadBlocks + block];
      List<Chunk> arrived;
      for (int step = 1; step < ranks; ++step)
        arrived.push_back(scratch[rank][(rank + step) % ranks * threadBlocks + block]);
      Rank(rank).reduce(share, arrived, tb(block), {.packet = true});
      for (int step = 1; step < ranks; ++step)
        channels[step - 1].putPackets(scratch[(rank + step) % ranks][shot + rank * threadBlocks + block], share,
                                      tb(block));
    }

    for (int step = 1; step < ranks; ++step) {
      const int peer = (rank + step) % ranks;
      Rank(rank).unpackPackets(data.slice(peer * threadBlocks, (peer + 1) * threadBlocks),
                               scratch[rank].slice(shot + peer * threadBlocks, shot + (peer + 1) * threadBlocks),
                               tb(step - 1));
    }
  }
}
