#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void split_nodes(int ranks = 4, int gpus = 2) {
  CollectiveProgram program("split_nodes", AllToAllV(ranks, RowLayout::Padded),
                            {.schedule = Schedule::Auto, .ranksPerNode = gpus, .split = true});
  for (int src = 0; src < ranks; ++src)
    for (int dst = 0; dst < ranks; ++dst)
      copy(Rank(dst).output().from(src), Rank(src).input().to(dst));
}
