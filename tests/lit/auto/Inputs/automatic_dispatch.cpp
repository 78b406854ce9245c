// A Dispatch that leaves open whether a row goes once to each rank.
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void automatic_dispatch(int ranks = 8, int experts = 32) {
  CollectiveProgram program("automatic_dispatch", Dispatch(ranks, experts),
                            {.schedule = Schedule::Auto, .oncePerRank = automatic});
  for (int src = 0; src < ranks; ++src)
    for (int dst = 0; dst < ranks; ++dst)
      copy(Rank(dst).output().from(src), Rank(src).input().to(dst));
}
