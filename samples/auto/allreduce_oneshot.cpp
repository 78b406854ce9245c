// AllReduce in one shot by reads: every GPU reads the data of all, and adds them up in the order of ranks. So all GPUs
// end with the same bits. MSCCL++'s executor cannot read in that order, so in a plan the others put their data.
//
// When: small messages in kernels, on GPUs that read each other's memory; there is no scratch.
//   mscclc allreduce_oneshot.cpp -P ranks=8 --message-size 8K -o plan.json
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void allreduce_oneshot(int ranks = 8, Order order = Order::Ranks) {
  CollectiveProgram program("allreduce_oneshot", AllReduce(ranks, 1, /*inplace=*/false),
                            {.instances = automatic, .schedule = Schedule::Auto, .order = order});
  for (int rank = 0; rank < ranks; ++rank) {
    Chunk sum = Rank(rank).output().slice(0, ranks), first = Rank(0).input().slice(0, ranks);
    List<Chunk> others;
    for (int other = 1; other < ranks; ++other)
      others.push_back(Rank(other).input().slice(0, ranks));
    reduce(sum, first, others, {.by = rank});
  }
}
