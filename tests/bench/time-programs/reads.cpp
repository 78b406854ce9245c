// AllReduce by loads from the peers' memory, as the kernels of vLLM, PyTorch and FBGEMM do it.
#include <mscclc/dsl.hpp>
using namespace mscclc;

namespace {
/// The same block of all ranks meets. Without `data`, nothing is ordered but the barrier itself.
void meet(const List<MemoryChannel> &channels, ThreadBlock block, bool data) {
  for (const MemoryChannel &channel : channels)
    channel.signal(block, {.sync = data ? Sync::Before : Sync::None, .relaxed = !data});
  for (const MemoryChannel &channel : channels)
    channel.wait(block, {.sync = Sync::After, .relaxed = !data});
}

List<MemoryChannel> channelsOf(int rank, int ranks) {
  List<MemoryChannel> channels;
  for (int step = 1; step < ranks; ++step)
    channels.push_back(MemoryChannel((rank + step) % ranks, rank));
  return channels;
}
} // namespace

/// Each rank reduces the whole message. Barriers stand before and after.
MSCCLC_ALGORITHM void one_shot(int ranks = 8, int threadBlocks = 18) {
  CollectiveProgram program("one_shot", AllReduce(ranks, threadBlocks, /*inplace=*/false));
  for (int rank = 0; rank < ranks; ++rank)
    for (int block = 0; block < threadBlocks; ++block) {
      const List<MemoryChannel> channels = channelsOf(rank, ranks);
      meet(channels, tb(block), false);
      const int first = block * ranks;
      const Chunk result = Rank(rank).output().slice(first, first + ranks);
      Rank(rank).copy(result, Rank(rank).input().slice(first, first + ranks), tb(block));
      for (int step = 1; step < ranks; ++step)
        channels[step - 1].reduce(result, {Rank((rank + step) % ranks).input().slice(first, first + ranks)}, tb(block));
      meet(channels, tb(block), false);
    }
}

/// Each rank reduces its share. After a barrier it loads the shares of the others.
MSCCLC_ALGORITHM void two_shots(int ranks = 8, int threadBlocks = 18) {
  CollectiveProgram program("two_shots", AllReduce(ranks, threadBlocks, /*inplace=*/false));
  List<Buffer> scratch;
  for (int rank = 0; rank < ranks; ++rank)
    scratch.push_back(Buffer(rank, threadBlocks));
  for (int rank = 0; rank < ranks; ++rank)
    for (int block = 0; block < threadBlocks; ++block) {
      const List<MemoryChannel> channels = channelsOf(rank, ranks);
      meet(channels, tb(block), false);
      const auto part = [&](int share) { return share * threadBlocks + block; };
      const Chunk sum = scratch[rank][block];
      Rank(rank).copy(sum, Rank(rank).input()[part(rank)], tb(block));
      for (int step = 1; step < ranks; ++step)
        channels[step - 1].reduce(sum, {Rank((rank + step) % ranks).input()[part(rank)]}, tb(block));
      meet(channels, tb(block), true);
      Rank(rank).copy(Rank(rank).output()[part(rank)], sum, tb(block));
      for (int step = 1; step < ranks; ++step) {
        const int peer = (rank + step) % ranks;
        channels[step - 1].get(Rank(rank).output()[part(peer)], scratch[peer][block], tb(block));
      }
    }
}
