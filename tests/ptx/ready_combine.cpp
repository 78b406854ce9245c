// A Combine that hands rows over in blocks (.readyRows), beside a user that runs at the same time.
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void ready_combine(int ranks = 2, int experts = 2) {
  CollectiveProgram program("ready_combine", Combine(ranks, experts), {.schedule = Schedule::Auto, .readyRows = 3});
  for (int src = 0; src < ranks; ++src)
    for (int dst = 0; dst < ranks; ++dst)
      copy(Rank(dst).output().from(src), Rank(src).input().to(dst));
}
