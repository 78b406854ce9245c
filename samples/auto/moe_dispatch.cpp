// The way to the experts of a mixture of experts: each row goes to each of the experts that an index names for it.
// Expert e gets the rows of all GPUs one behind the other, GPU by GPU, in a buffer with room for the most that may
// come.
//
// When: the first half of a layer whose experts are spread over GPUs. Combine brings the results back. With `split` the
// kernel is two, one that sends and one that receives, and other work of the GPU runs between them. With `ready = 128`
// a word for each block of 128 rows says that these are there, so that experts begin with the first ones. With `once` a
// row goes at most once to each GPU, which copies it to its experts there; the results are the same.
//   mscclc moe_dispatch.cpp -P ranks=8 -P experts=32 --emit-cuda -o moe_dispatch.cu
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void moe_dispatch(int ranks = 8, int experts = 4, // of each GPU
                                   ExpertLayout layout = ExpertLayout::ExpertMajor, bool split = false,
                                   int ready = 0, // rows of a block that has a word; 0: none has
                                   bool once = false) {
  CollectiveProgram program("moe_dispatch", Dispatch(ranks, experts, layout),
                            {.instances = automatic,
                             .protocol = Protocol::Auto,
                             .schedule = Schedule::Auto,
                             .split = split,
                             .readyRows = ready,
                             .oncePerRank = once});
  for (int src = 0; src < ranks; ++src)
    for (int dst = 0; dst < ranks; ++dst)
      copy(Rank(dst).output().from(src), Rank(src).input().to(dst));
}
