// AllReduce with LL packets in one hop: every GPU adds up the data of all, in the order of ranks. So all GPUs end with
// the same bits. Only the protocol is not left to the compiler.
//
// When: the smallest messages (up to some KiB), where a second hop costs more than the bytes that it saves.
//   mscclc allreduce_packets_oneshot.cpp -P ranks=8 --message-size 1K -o plan.json
// -P order=Ranks adds up every element in the order of ranks. -P protocol=Lamport sends packets without flags, half as
// long, in a kernel that sums floats (--emit-cuda).
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void allreduce_packets_oneshot(int ranks = 8, Order order = Order::Written,
                                                Protocol protocol = Protocol::LL) {
  CollectiveProgram program("allreduce_packets_oneshot", AllReduce(ranks, 1, /*inplace=*/false),
                            {.instances = automatic, .protocol = protocol, .schedule = Schedule::Auto, .order = order});
  for (int rank = 0; rank < ranks; ++rank) {
    Chunk sum = Rank(rank).output().slice(0, ranks), first = Rank(0).input().slice(0, ranks);
    List<Chunk> others;
    for (int other = 1; other < ranks; ++other)
      others.push_back(Rank(other).input().slice(0, ranks));
    reduce(sum, first, others);
  }
}
