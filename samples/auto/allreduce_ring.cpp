// AllReduce, ring: a reduce-scatter around the ring, then an all-gather around it.
//
// When: large messages where only neighbours are fast; every link carries 2(n-1)/n of the message.
//   mscclc allreduce_ring.cpp -P ranks=8 --message-size 64M -o plan.json
// Each GPU rounds its partial sum of narrow floats. A kernel with -P accumulate=Wide rounds each sum once.
// -P inplace=false is for calls whose input is another buffer than the output.
#include <mscclc/dsl.hpp>
using namespace mscclc;

/// Each share goes around twice: in the first round every GPU adds its part, in the second every GPU keeps the sum.
MSCCLC_ALGORITHM void allreduce_ring(int ranks = 8, Accumulate accumulate = Accumulate::Narrow, bool inplace = true) {
  CollectiveProgram program(
      "allreduce_ring", AllReduce(ranks, 1, inplace),
      {.instances = automatic, .protocol = Protocol::Auto, .schedule = Schedule::Auto, .accumulate = accumulate});
  const auto sum = [&](int rank, int share) { return (inplace ? Rank(rank).input() : Rank(rank).output())[share]; };
  if (!inplace)
    for (int share = 0; share < ranks; ++share)
      copy(sum(share, share), Rank(share).input()[share]);
  for (int step = 1; step < 2 * ranks - 1; ++step)
    for (int share = 0; share < ranks; ++share) {
      const int here = (share + step) % ranks, previous = (share + step - 1) % ranks;
      if (step < ranks)
        reduce(sum(here, share), Rank(here).input()[share], {sum(previous, share)});
      else
        copy(sum(here, share), sum(previous, share));
    }
}
