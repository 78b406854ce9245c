// ReduceScatter in the switch: NVLink SHARP reduces each GPU's share, which that GPU stores. The switch adds in an
// order of its own, which `Order::Any` allows.
//
// When: H100 or newer with NVSwitch; each link carries a share in once instead of once from each other GPU. A kernel
// only, as the executor's plans reduce in the switch only to broadcast:
//   mscclc reducescatter_nvls.cpp -P ranks=8 --emit-cuda -o reducescatter_nvls.cu
// -P inplace=false is for calls whose input is another buffer than the output.
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void reducescatter_nvls(int ranks = 8, bool inplace = true) {
  CollectiveProgram program("reducescatter_nvls", ReduceScatter(ranks, 1, inplace),
                            {.instances = automatic, .schedule = Schedule::Auto, .order = Order::Any});
  for (int rank = 0; rank < ranks; ++rank) {
    List<Chunk> others; // the same share on the other GPUs
    for (int step = 1; step < ranks; ++step)
      others.push_back(Rank((rank + step) % ranks).input()[rank]);
    Chunk own = Rank(rank).input()[rank];
    reduce(inplace ? own : Rank(rank).output()[0], own, others, {.via = Via::Switch});
  }
}
