// Lesson 3: every GPU sums its share of all inputs, and hands the sum to the others.
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void large_allreduce(int ranks = 8, Order order = Order::Written) {
  CollectiveProgram program("large_allreduce", AllReduce(ranks, 1, /*inplace=*/true),
                            {.instances = automatic,
                             .protocol = Protocol::Auto,
                             .minMessageSize = 1,
                             .schedule = Schedule::Auto,
                             .order = order});
  for (int rank = 0; rank < ranks; ++rank) {
    List<Chunk> others; // where the other GPUs hold share `rank`
    for (int step = 1; step < ranks; ++step)
      others.push_back(Rank((rank + step) % ranks).input()[rank]);
    reduce(Rank(rank).input()[rank], others);
    copy(others, Rank(rank).input()[rank]);
  }
}
