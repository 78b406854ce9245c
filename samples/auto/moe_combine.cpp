// The way back from the experts of a mixture of experts: each row becomes the sum of what its experts made of it, each
// multiplied by a weight. Products are rounded to f32 and added in the order of the index.
//
// When: the second half of a layer whose experts are spread over GPUs, behind a Dispatch with the same index. With
// `split` the kernel is two, one that sends and one that receives, and other work of the GPU runs between them. With
// `ready = 128` it waits for a word for each block of 128 rows, which the experts set when these are there.
//   mscclc moe_combine.cpp -P ranks=8 -P experts=32 --emit-cuda -o moe_combine.cu
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void moe_combine(int ranks = 8, int experts = 4, // of each GPU
                                  ExpertLayout layout = ExpertLayout::ExpertMajor, bool split = false,
                                  int ready = 0) { // rows of a block that has a word; 0: none has
  CollectiveProgram program("moe_combine", Combine(ranks, experts, layout),
                            {.instances = automatic,
                             .protocol = Protocol::Auto,
                             .schedule = Schedule::Auto,
                             .split = split,
                             .readyRows = ready});
  for (int src = 0; src < ranks; ++src)
    for (int dst = 0; dst < ranks; ++dst)
      copy(Rank(dst).output().from(src), Rank(src).input().to(dst));
}
