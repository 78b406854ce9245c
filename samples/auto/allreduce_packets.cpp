// AllReduce with LL packets: data and flag travel together, so no signal is needed. What moves is that of
// allreduce_allpairs.cpp; only the protocol is not left to the compiler.
//
// When: small messages (up to about 1 MiB), where latency counts: decoding of large models.
//   mscclc allreduce_packets.cpp -P ranks=8 --message-size 8K -o plan.json
// -P order=Ranks adds up every element in the order of ranks. -P protocol=Lamport sends packets without flags, half as
// long, in a kernel that sums floats (--emit-cuda).
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void allreduce_packets(int ranks = 8, Order order = Order::Written, Protocol protocol = Protocol::LL) {
  CollectiveProgram program("allreduce_packets", AllReduce(ranks, 1, /*inplace=*/true),
                            {.instances = automatic, .protocol = protocol, .schedule = Schedule::Auto, .order = order});
  for (int rank = 0; rank < ranks; ++rank) {
    Chunk share = Rank(rank).input()[rank];
    List<Chunk> others; // the same share on the other GPUs
    for (int step = 1; step < ranks; ++step)
      others.push_back(Rank((rank + step) % ranks).input()[rank]);
    reduce(share, others);
    copy(others, share);
  }
}
