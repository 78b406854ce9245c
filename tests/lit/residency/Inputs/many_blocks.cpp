#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void many_blocks(int instances = 300) {
  CollectiveProgram program("many_blocks", AllGather(2, 1, /*inplace=*/true),
                            {.instances = instances, .schedule = Schedule::Auto});
  for (int rank = 0; rank < 2; ++rank)
    copy(Rank(1 - rank).output()[rank], Rank(rank).output()[rank]);
}
