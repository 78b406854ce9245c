// Lesson 6: an all-reduce whose sums are multiplied by a factor that each launch brings.
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void scale_hook(int ranks = 2, bool early = false) {
  CollectiveProgram program(
      "scale_hook", AllReduce(ranks, 1, /*inplace=*/true).then("scale"),
      {.instances = automatic, .protocol = Protocol::Auto, .schedule = Schedule::Auto, .order = Order::Ranks});
  Hook scale("scale", {.reads = {"factor"},
                       .equal = {"factor"},
                       .function = "mscclc::hooks::Scale",
                       .header = "mscclc/hooks/scale.cuh"});
  for (int rank = 0; rank < ranks; ++rank) {
    Chunk share = Rank(rank).input()[rank];
    List<Chunk> others; // where the other GPUs hold it
    for (int step = 1; step < ranks; ++step)
      others.push_back(Rank((rank + step) % ranks).input()[rank]);
    if (early)
      apply(scale, share);
    reduce(share, others);
    if (!early)
      apply(scale, share);
    copy(others, share);
  }
}
