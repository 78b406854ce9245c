// AllToAllV without padding: the rows for rank d follow those for rank d - 1 in every GPU's input. They end behind
// those of the rank before in the output of GPU d. Senders find the place from the counts of all ranks.
//
// When: tensors that are split unevenly, as in PyTorch's all_to_all_vdev.
//   mscclc alltoallv_packed.cpp -P ranks=8 --emit-cuda -o alltoallv_packed.cu
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void alltoallv_packed(int ranks = 8) {
  CollectiveProgram program("alltoallv_packed", AllToAllV(ranks, RowLayout::Packed),
                            {.instances = automatic, .protocol = Protocol::Auto, .schedule = Schedule::Auto});
  for (int src = 0; src < ranks; ++src)
    for (int dst = 0; dst < ranks; ++dst)
      copy(Rank(dst).output().from(src), Rank(src).input().to(dst));
}
