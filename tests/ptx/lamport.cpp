// AllReduce in two hops with packets that have no flags, in the order of ranks. One block of each rank does it all, so
// that the PTX machine is soon through.
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void lamport(int ranks = 4) {
  CollectiveProgram program(
      "lamport", AllReduce(ranks, 1, /*inplace=*/true),
      {.protocol = Protocol::Lamport, .schedule = Schedule::Auto, .blocks = 1, .order = Order::Ranks});
  for (int rank = 0; rank < ranks; ++rank) {
    Chunk share = Rank(rank).input()[rank];
    List<Chunk> others;
    for (int step = 1; step < ranks; ++step)
      others.push_back(Rank((rank + step) % ranks).input()[rank]);
    reduce(share, others);
    copy(others, share);
  }
}
