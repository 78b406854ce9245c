// AllReduce as a loop of three stages: send, reduce, collect. While one unit is reduced the next is on its way.
//
// When: large messages, where sending, reducing and collecting should all be busy at once.
//   mscclc allreduce_pipeline.cpp -P ranks=4 -P unitKiB=512 -o plan.json
#include <mscclc/dsl.hpp>
using namespace mscclc;

/// Each iteration handles `unitKiB` KiB of every share, so the number of iterations depends on the message size.
MSCCLC_ALGORITHM void allreduce_pipeline(int ranks = 4, int unitKiB = 1024) {
  CollectiveProgram program("allreduce_pipeline", AllReduce(ranks, 1, /*inplace=*/true));
  const auto sender = tb(0), reducer = tb(1), collector = tb(2);
  List<Buffer> arrived, reduced; // a share from every GPU, before and after the sum
  for (int rank = 0; rank < ranks; ++rank) {
    arrived.push_back(Buffer(rank, ranks));
    reduced.push_back(Buffer(rank, ranks));
  }

  for (int rank = 0; rank < ranks; ++rank) {
    auto data = Rank(rank).input();
    List<MemoryChannel> begun, parts, sums; // to the peers 1, 2, … away
    for (int step = 1; step < ranks; ++step) {
      begun.push_back(MemoryChannel((rank + step) % ranks, rank));
      parts.push_back(MemoryChannel((rank + step) % ranks, rank));
      sums.push_back(MemoryChannel((rank + step) % ranks, rank));
    }

    // A peer may still collect sums of the previous launch. If that launch had another message size, its sums may be
    // where this launch sends parts.
    for (MemoryChannel &channel : begun)
      channel.signal(sender, {.sync = Sync::None, .relaxed = true});
    for (MemoryChannel &channel : begun)
      channel.wait(sender, {.sync = Sync::After, .relaxed = true});

    PipelineLoop loop(unitKiB * 1_KiB, /*numChunks=*/1);
    for (int step = 1; step < ranks; ++step) {
      const int peer = (rank + step) % ranks;
      parts[step - 1].put(arrived[peer][rank], data[peer], sender);
    }
    for (MemoryChannel &channel : parts)
      channel.signal(sender, {.sync = Sync::Before});

    for (MemoryChannel &channel : parts)
      channel.wait(reducer, {.sync = Sync::After});
    List<Chunk> others;
    for (int step = 1; step < ranks; ++step)
      others.push_back(arrived[rank][(rank + step) % ranks]);
    Rank(rank).reduce(data[rank], others, reducer);
    for (int step = 1; step < ranks; ++step)
      sums[step - 1].put(reduced[(rank + step) % ranks][rank], data[rank], reducer);
    for (MemoryChannel &channel : sums)
      channel.signal(reducer, {.sync = Sync::Before});

    for (MemoryChannel &channel : sums)
      channel.wait(collector, {.sync = Sync::After});
    for (int step = 1; step < ranks; ++step) {
      const int peer = (rank + step) % ranks;
      Rank(rank).copy(data[peer], reduced[rank][peer], collector);
    }
  }
}
