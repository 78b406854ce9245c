// AllGather, all pairs: every GPU's chunk goes straight into every other GPU's output.
//
// When: GPUs that all reach each other (one NVLink domain); one step, so the lowest latency for small and medium sizes.
//   mscclc allgather_allpairs.cpp -P ranks=8 --message-size 1M -o plan.json
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void allgather_allpairs(int ranks = 8) {
  CollectiveProgram program("allgather_allpairs", AllGather(ranks, 1, /*inplace=*/true),
                            {.instances = automatic, .protocol = Protocol::Auto, .schedule = Schedule::Auto});
  for (int src = 0; src < ranks; ++src)
    for (int dst = 0; dst < ranks; ++dst)
      copy(Rank(dst).output()[src], Rank(src).output()[src]);
}
