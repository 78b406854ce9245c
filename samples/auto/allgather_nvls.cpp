// AllGather through the switch: every GPU's chunk goes to the switch once, which writes it to all GPUs.
//
// When: H100 or newer with NVSwitch; each link carries a chunk out once instead of once for each other GPU.
//   mscclc allgather_nvls.cpp -P ranks=8 --message-size 64M -o plan.json
// -P inplace=false is for calls whose input is another buffer than the output.
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void allgather_nvls(int ranks = 8, bool inplace = true) {
  CollectiveProgram program("allgather_nvls", AllGather(ranks, 1, inplace),
                            {.instances = automatic, .schedule = Schedule::Auto});
  for (int src = 0; src < ranks; ++src) {
    List<Chunk> places;
    for (int dst = 0; dst < ranks; ++dst)
      places.push_back(Rank(dst).output()[src]);
    copy(places, inplace ? Rank(src).output()[src] : Rank(src).input()[0], {.via = Via::Switch});
  }
}
