// AllReduce, ring: a reduce-scatter around the ring, then an all-gather around it.
//
// When: large messages where only neighbours are fast; every link carries 2(n-1)/n of the message.
//   mscclc allreduce_ring.cpp -P ranks=8 -P lanes=4 -o plan.json
#include <mscclc/dsl.hpp>
using namespace mscclc;

/// Each of `lanes` lanes carries its own slice of every share, on two blocks: one reduces, one gathers.
MSCCLC_ALGORITHM void allreduce_ring(int ranks = 4, int lanes = 1) {
  CollectiveProgram program("allreduce_ring", AllReduce(ranks, lanes, /*inplace=*/true));
  List<Buffer> scratch; // a slot for each step and lane, for data of the previous GPU
  for (int rank = 0; rank < ranks; ++rank)
    scratch.push_back(Buffer(rank, (ranks - 1) * lanes));

  for (int rank = 0; rank < ranks; ++rank) {
    const int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
    auto mine = Rank(rank).input(), theirs = Rank(next).input();

    for (int lane = 0; lane < lanes; ++lane) {
      const auto reducer = tb(2 * lane), gatherer = tb(2 * lane + 1);
      const auto chunkOf = [&](int share) { return (share + 2 * ranks) % ranks * lanes + lane; };
      Semaphore reduced(rank, 0);

      MemoryChannel toNext(next, rank);
      MemoryChannel toPrevious = ranks == 2 ? toNext : MemoryChannel(previous, rank);
      toPrevious.signal(reducer, {.sync = Sync::None, .relaxed = true});
      toNext.wait(reducer, {.sync = Sync::After, .relaxed = true});
      for (int step = 0; step + 1 < ranks; ++step) {
        const int slot = step * lanes + lane;
        toNext.put(scratch[next][slot], mine[chunkOf(rank - step)], reducer);
        toNext.signal(reducer, {.sync = Sync::Before});
        toPrevious.wait(reducer, {.sync = Sync::After});
        Rank(rank).reduce(mine[chunkOf(rank - step - 1)], {scratch[rank][slot]}, reducer);
      }
      reduced.release(reducer, Sync::Before);

      // Share rank + 1 is complete here. Pass it on, and then each share that comes from the previous GPU.
      MemoryChannel gatherNext(next, rank);
      MemoryChannel gatherPrevious = ranks == 2 ? gatherNext : MemoryChannel(previous, rank);
      reduced.acquire(gatherer, Sync::After);
      for (int step = 0; step + 1 < ranks; ++step) {
        const int chunk = chunkOf(rank + 1 - step);
        gatherNext.put(theirs[chunk], mine[chunk], gatherer);
        gatherNext.signal(gatherer, {.sync = Sync::Before});
        gatherPrevious.wait(gatherer, {.sync = Sync::After});
      }
    }
  }
}
