// AllToAllV with padded slots: the rows for rank d go from their slot in every GPU's input to a slot in the output of
// GPU d. Only live rows are moved. Their number arrives with them.
//
// When: a mixture of experts whose buffers have a fixed place for each rank.
//   mscclc alltoallv_padded.cpp -P ranks=8 --emit-cuda -o alltoallv_padded.cu
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void alltoallv_padded(int ranks = 8) {
  CollectiveProgram program("alltoallv_padded", AllToAllV(ranks, RowLayout::Padded),
                            {.instances = automatic, .protocol = Protocol::Auto, .schedule = Schedule::Auto});
  for (int src = 0; src < ranks; ++src)
    for (int dst = 0; dst < ranks; ++dst)
      copy(Rank(dst).output().from(src), Rank(src).input().to(dst));
}
