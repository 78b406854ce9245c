// An all-reduce that states only what data moves: each GPU sums one share, and sends the sum to all other GPUs.
#include <mscclc/dsl.hpp>
using namespace mscclc;

/// `ranks`: the number of GPUs of a node.
MSCCLC_ALGORITHM void allreduce(int ranks = 8) {
  CollectiveProgram program(
      "allreduce", AllReduce(ranks, 1, /*inplace=*/true),
      {.instances = automatic, .protocol = Protocol::Auto, .schedule = Schedule::Auto, .order = Order::Ranks});
  for (int rank = 0; rank < ranks; ++rank) {
    List<Chunk> others; // where the other GPUs hold share `rank`
    for (int step = 1; step < ranks; ++step)
      others.push_back(Rank((rank + step) % ranks).input()[rank]);
    reduce(Rank(rank).input()[rank], others);
    copy(others, Rank(rank).input()[rank]);
  }
}
