// AllGather, all pairs: every GPU's chunk goes straight into every other GPU's output.
//
// When: GPUs that all reach each other (one NVLink domain); one step, so the lowest latency for small and medium sizes.
//   mscclc allgather_allpairs.cpp -P ranks=8 --message-size 1M -o plan.json
// -P inplace=false is for calls whose input is another buffer than the output.
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void allgather_allpairs(int ranks = 8, bool inplace = true) {
  CollectiveProgram program("allgather_allpairs", AllGather(ranks, 1, inplace),
                            {.instances = automatic, .protocol = Protocol::Auto, .schedule = Schedule::Auto});
  for (int src = 0; src < ranks; ++src)
    for (int dst = 0; dst < ranks; ++dst)
      copy(Rank(dst).output()[src], inplace ? Rank(src).output()[src] : Rank(src).input()[0]);
}
