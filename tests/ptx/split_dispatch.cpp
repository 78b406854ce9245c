// A Dispatch in two kernels: one sends, and the other one receives (.split).
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void split_dispatch(int ranks = 2, int experts = 2) {
  CollectiveProgram program("split_dispatch", Dispatch(ranks, experts), {.schedule = Schedule::Auto, .split = true});
  for (int src = 0; src < ranks; ++src)
    for (int dst = 0; dst < ranks; ++dst)
      copy(Rank(dst).output().from(src), Rank(src).input().to(dst));
}
