// AllReduce with LL packets in one hop: every GPU sends all of its data to every other one, and adds up what arrives.
//
// When: the smallest messages (up to some KiB), where a second hop costs more than the bytes that it saves.
//   mscclc allreduce_packets_oneshot.cpp -P ranks=8 -o plan.json
#include <mscclc/dsl.hpp>
using namespace mscclc;

/// Block b sends its chunks, one for each GPU, as packets to all GPUs, to its own too. Then it adds them up in the
/// order of ranks, so that all GPUs end with the same bits. Double scratch makes the next launch safe.
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
      const auto slot = [&](int at, int from) { return scratch[at].slice(from * chunks + first, from * chunks + end); };
      for (int step = 1; step < ranks; ++step)
        channels[step - 1].putPackets(slot((rank + step) % ranks, rank), mine, tb(block));
      Rank(rank).copyPackets(slot(rank, rank), mine, tb(block));
      List<Chunk> others;
      for (int other = 1; other < ranks; ++other)
        others.push_back(slot(rank, other));
      Rank(rank).unpackPackets(mine, slot(rank, 0), tb(block));
      Rank(rank).reduce(mine, others, tb(block), {.packet = true});
    }
  }
}
