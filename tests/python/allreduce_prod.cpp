// The product of all ranks, so that operations other than a sum have a kernel.
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void allreduce_prod(int ranks = 2) {
  CollectiveProgram program("allreduce_prod", AllReduce(ranks, 1, /*inplace=*/true), {.schedule = Schedule::Auto});
  for (int rank = 0; rank < ranks; ++rank) {
    Chunk share = Rank(rank).input()[rank];
    List<Chunk> others;
    for (int step = 1; step < ranks; ++step)
      others.push_back(Rank((rank + step) % ranks).input()[rank]);
    reduce(share, others, {.op = ReduceOp::Prod});
    copy(others, share);
  }
}
