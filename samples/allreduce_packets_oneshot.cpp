// AllReduce with LL packets in one hop: every GPU sends all of its data to every other one, and adds up what arrives.
//
// When: the smallest messages (up to some KiB), where a second hop costs more than the bytes that it saves.
//   mscclc allreduce_packets_oneshot.cpp -P ranks=8 -o plan.json
#include <mscclc/dsl.hpp>
using namespace mscclc;

/// Block b sends its chunks, one for each GPU, as packets to all peers, then adds theirs to them. Each GPU begins with
/// its own, so sums of floats may differ in the last bit from GPU to GPU. Double scratch makes the next launch safe.
MSCCLC_ALGORITHM void allreduce_packets_oneshot(int ranks = 8, int threadBlocks = 4) {
  CollectiveProgram program("allreduce_packets_oneshot", AllReduce(ranks, threadBlocks, /*inplace=*/true),
                            {.protocol = Protocol::LL, .doubleScratch = true});
  const int chunks = ranks * threadBlocks;
  List<Buffer> scratch;
  for (int rank = 0; rank < ranks; ++rank)
    scratch.push_back(Buffer(rank, ranks * chunks));

  for (int rank = 0; rank < ranks; ++rank) {
    auto data = Rank(rank).input();
    List<MemoryChannel> channels;
    for (int step = 1; step < ranks; ++step)
      channels.push_back(MemoryChannel((rank + step) % ranks, rank));

    for (int block = 0; block < threadBlocks; ++block) {
      const int first = block * ranks, end = first + ranks;
      Chunk mine = data.slice(first, end);
      List<Chunk> arrived;
      for (int step = 1; step < ranks; ++step) {
        const int peer = (rank + step) % ranks;
        channels[step - 1].putPackets(scratch[peer].slice(rank * chunks + first, rank * chunks + end), mine, tb(block));
        arrived.push_back(scratch[rank].slice(peer * chunks + first, peer * chunks + end));
      }
      Rank(rank).reduce(mine, arrived, tb(block), {.packet = true});
    }
  }
}
