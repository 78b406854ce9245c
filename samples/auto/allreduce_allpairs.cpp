// AllReduce, all pairs: every GPU reduces its share from all others, then hands the sum back to them.
//
// When: one NVLink domain of up to 9 GPUs, medium and large messages.
//   mscclc allreduce_allpairs.cpp -P ranks=8 --message-size 1M -o plan.json
// -P order=Ranks adds up every element in the order of ranks.
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void allreduce_allpairs(int ranks = 8, Order order = Order::Written) {
  CollectiveProgram program(
      "allreduce_allpairs", AllReduce(ranks, 1, /*inplace=*/true),
      {.instances = automatic, .protocol = Protocol::Auto, .schedule = Schedule::Auto, .order = order});
  for (int rank = 0; rank < ranks; ++rank) {
    Chunk share = Rank(rank).input()[rank];
    List<Chunk> others; // the same share on the other GPUs
    for (int step = 1; step < ranks; ++step)
      others.push_back(Rank((rank + step) % ranks).input()[rank]);
    reduce(share, others);
    copy(others, share);
  }
}
