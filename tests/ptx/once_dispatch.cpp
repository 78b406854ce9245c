// A Dispatch that sends a row once to each rank (.oncePerRank).
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void once_dispatch(int ranks = 2, int experts = 2) {
  CollectiveProgram program("once_dispatch", Dispatch(ranks, experts),
                            {.schedule = Schedule::Auto, .oncePerRank = true});
  for (int src = 0; src < ranks; ++src)
    for (int dst = 0; dst < ranks; ++dst)
      copy(Rank(dst).output().from(src), Rank(src).input().to(dst));
}
