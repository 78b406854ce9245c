// AllToAll: chunk d of every GPU's input goes into the output of GPU d.
//
// When: expert-parallel dispatch and transposes within one NVLink domain.
//   mscclc alltoall.cpp -P ranks=8 --message-size 1M -o plan.json
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void alltoall(int ranks = 8) {
  CollectiveProgram program("alltoall", AllToAll(ranks, 1, /*inplace=*/false),
                            {.instances = automatic, .protocol = Protocol::Auto, .schedule = Schedule::Auto});
  for (int src = 0; src < ranks; ++src)
    for (int dst = 0; dst < ranks; ++dst)
      copy(Rank(dst).output()[src], Rank(src).input()[dst]);
}
