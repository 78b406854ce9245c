// Two GPUs write to or read from each other with many blocks, in both directions at once. MSCCL++'s tutorials measure
// this.
#include <mscclc/dsl.hpp>
using namespace mscclc;

enum class Way { Put, Get, Packets };

MSCCLC_ALGORITHM void pair(Way way = Way::Put, int threadBlocks = 32) {
  const bool packets = way == Way::Packets;
  CollectiveProgram program("pair", SendRecv(2, threadBlocks, /*inplace=*/false),
                            {.protocol = packets ? Protocol::LL : Protocol::Simple, .doubleScratch = packets});
  List<Buffer> scratch;
  if (packets)
    for (int rank = 0; rank < 2; ++rank)
      scratch.push_back(Buffer(rank, threadBlocks));
  List<int> blocks;
  for (int block = 0; block < threadBlocks; ++block)
    blocks.push_back(block);

  for (int rank = 0; rank < 2; ++rank) {
    const int peer = 1 - rank;
    MemoryChannel channel(peer, rank);
    channel.signal(tb(0), {.relaxed = true});
    channel.wait(tb(0), {.sync = Sync::After, .relaxed = true});
    Rank(rank).barrier(blocks);
    for (int block = 0; block < threadBlocks; ++block) {
      if (way == Way::Put)
        channel.put(Rank(peer).output()[block], Rank(rank).input()[block], tb(block));
      if (way == Way::Get)
        channel.get(Rank(rank).output()[block], Rank(peer).input()[block], tb(block));
      if (packets) {
        channel.putPackets(scratch[peer][block], Rank(rank).input()[block], tb(block));
        Rank(rank).unpackPackets(Rank(rank).output()[block], scratch[rank][block], tb(block));
      }
    }
    if (way == Way::Put) {
      Rank(rank).barrier(blocks);
      channel.signal(tb(0), {.sync = Sync::Before});
      channel.wait(tb(0), {.sync = Sync::After});
    }
  }
}
