// Both ends of a channel at once: in a ring of two, where each rank is the other's next and previous one, they meet as
// they should. What is wrong with a pair is said once.
// RUN: mscclc %s --algorithm pairs --verify
// RUN: mscclc %s --algorithm pairs -P port=true --verify
// RUN: mscclc %s --algorithm pairs -P ranks=5 --verify
// RUN: not mscclc %s --algorithm pairs -P paired=false --verify 2>&1 | FileCheck %s --check-prefix=UNPAIRED
// RUN: not mscclc %s --algorithm wrong -o %t 2>&1 | FileCheck %s --check-prefix=WRONG --implicit-check-not=error:
// UNPAIRED: error: deadlock
#include <mscclc/dsl.hpp>
using namespace mscclc;

/// An AllGather ring that goes both ways: half of each chunk clockwise, and half the other way round.
template <typename Channel> static void ring(int ranks, bool paired) {
  List<Channel> forth(ranks, Channel()), back(ranks, Channel());
  for (int rank = 0; rank < ranks; ++rank) {
    const int next = (rank + 1) % ranks;
    if (paired) {
      const auto [toNext, toPrevious] = Channel::pair(rank, next);
      forth[rank] = toNext, back[next] = toPrevious;
    } else {
      forth[rank] = Channel(next, rank), back[rank] = Channel((rank + ranks - 1) % ranks, rank);
    }
  }
  for (int rank = 0; rank < ranks; ++rank) {
    const int next = (rank + 1) % ranks;
    back[rank].signal(tb(0));
    forth[rank].wait(tb(0), {.sync = Sync::After});
    for (int step = 0; step + 1 < ranks; ++step) {
      const int share = (rank + ranks - step) % ranks;
      forth[rank].put(Rank(next).output()[share], Rank(rank).output()[share], tb(0));
      forth[rank].signal(tb(0), {.sync = Sync::Before});
      back[rank].wait(tb(0), {.sync = Sync::After});
    }
    if constexpr (__is_same(Channel, PortChannel))
      forth[rank].flush(tb(0));
  }
}

MSCCLC_ALGORITHM void pairs(int ranks = 2, bool port = false, bool paired = true) {
  CollectiveProgram program("pairs", AllGather(ranks, 1, true));
  if (port)
    ring<PortChannel>(ranks, paired);
  else
    ring<MemoryChannel>(ranks, paired);
}

MSCCLC_ALGORITHM void wrong() {
  CollectiveProgram program("wrong", AllGather(2, 1, true));
  // WRONG: channel_pairs.cpp:[[#@LINE+1]]:3: error: a channel leads from rank 1 to itself
  MemoryChannel::pair(1, 1);
  // WRONG: channel_pairs.cpp:[[#@LINE+1]]:3: error: destination rank 2 of a channel is out of range
  PortChannel::pair(0, 2);
  const auto [ab, ba] = MemoryChannel::pair(0, 1);
  // WRONG: channel_pairs.cpp:[[#@LINE+2]]:6: error: the destination is a chunk of rank 0
  // WRONG: channel from rank 0 to rank 1 made here
  ab.put(Rank(0).output()[0], Rank(0).output()[0], tb(0));
}
