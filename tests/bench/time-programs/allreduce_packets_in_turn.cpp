// AllReduce with packets in two shots, as MSCCL++'s own kernel does it: a thread polls one peer after the other.
#include <mscclc/dsl.hpp>
using namespace mscclc;

/// `threadBlocks` blocks for each peer.
MSCCLC_ALGORITHM void allreduce_packets_in_turn(int ranks = 8, int threadBlocks = 3) {
  const int blocks = (ranks - 1) * threadBlocks;
  CollectiveProgram program("allreduce_packets_in_turn", AllReduce(ranks, blocks, /*inplace=*/true),
                            {.protocol = Protocol::LL, .doubleScratch = true});
  const int shot = ranks * blocks;
  List<Buffer> scratch;
  for (int rank = 0; rank < ranks; ++rank)
    scratch.push_back(Buffer(rank, 2 * shot));

  for (int rank = 0; rank < ranks; ++rank) {
    auto data = Rank(rank).input();
    List<MemoryChannel> channels;
    for (int step = 1; step < ranks; ++step)
      channels.push_back(MemoryChannel((rank + step) % ranks, rank));
    // A block sends a part of one peer's share.
    const auto partOf = [&](const auto &buffer, int shot, int share, int part) {
      const int first = shot + share * blocks + part * (ranks - 1);
      return buffer.slice(first, first + ranks - 1);
    };
    for (int step = 1; step < ranks; ++step)
      for (int part = 0; part < threadBlocks; ++part) {
        const int peer = (rank + step) % ranks;
        channels[step - 1].putPackets(partOf(scratch[peer], 0, rank, part), partOf(data, 0, peer, part),
                                      tb((step - 1) * threadBlocks + part));
      }
    // All blocks reduce, each a part of the rank's own share.
    for (int block = 0; block < blocks; ++block) {
      Chunk share = data[rank * blocks + block];
      for (int step = 1; step < ranks; ++step)
        Rank(rank).reduce(share, {scratch[rank][(rank + step) % ranks * blocks + block]}, tb(block), {.packet = true});
      for (int step = 1; step < ranks; ++step)
        channels[step - 1].putPackets(scratch[(rank + step) % ranks][shot + rank * blocks + block], share, tb(block));
    }
    for (int step = 1; step < ranks; ++step)
      for (int part = 0; part < threadBlocks; ++part) {
        const int peer = (rank + step) % ranks;
        Rank(rank).unpackPackets(partOf(data, 0, peer, part), partOf(scratch[rank], shot, peer, part),
                                 tb((step - 1) * threadBlocks + part));
      }
  }
}
