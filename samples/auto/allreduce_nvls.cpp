// AllReduce in the switch: NVLink SHARP reduces and multicasts, each GPU drives its share.
//
// When: H100 or newer with NVSwitch, medium and large messages; every byte crosses each link once. The switch adds in
// an order of its own, which `Order::Any` allows.
//   mscclc allreduce_nvls.cpp -P ranks=8 --message-size 64M -o plan.json
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void allreduce_nvls(int ranks = 8) {
  CollectiveProgram program("allreduce_nvls", AllReduce(ranks, 1, /*inplace=*/true),
                            {.instances = automatic, .schedule = Schedule::Auto, .order = Order::Any});
  for (int rank = 0; rank < ranks; ++rank) {
    Chunk share = Rank(rank).input()[rank];
    List<Chunk> places; // where that share lies on the other GPUs
    for (int step = 1; step < ranks; ++step)
      places.push_back(Rank((rank + step) % ranks).input()[rank]);
    reduce(share, places, {.via = Via::Switch});
    places.push_back(share); // the switch writes to all GPUs, to this one too
    copy(places, share, {.via = Via::Switch});
  }
}
