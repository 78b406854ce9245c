// AllReduce in the switch: NVLink SHARP reduces and multicasts, each GPU drives its share.
//
// When: H100 or newer with NVSwitch, medium and large messages; every byte crosses each link once. The switch adds in
// an order of its own, which `Order::Any` allows.
//   mscclc allreduce_nvls.cpp -P ranks=8 --message-size 64M -o plan.json
// -P inplace=false is for calls whose input is another buffer than the output.
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void allreduce_nvls(int ranks = 8, bool inplace = true) {
  CollectiveProgram program("allreduce_nvls", AllReduce(ranks, 1, inplace),
                            {.instances = automatic, .schedule = Schedule::Auto, .order = Order::Any});
  const auto sum = [&](int rank, int share) { return (inplace ? Rank(rank).input() : Rank(rank).output())[share]; };
  for (int rank = 0; rank < ranks; ++rank) {
    List<Chunk> others, places; // the same share on the other GPUs, and the places of its sum there
    for (int step = 1; step < ranks; ++step) {
      others.push_back(Rank((rank + step) % ranks).input()[rank]);
      places.push_back(sum((rank + step) % ranks, rank));
    }
    reduce(sum(rank, rank), Rank(rank).input()[rank], others, {.via = Via::Switch});
    places.push_back(sum(rank, rank)); // the switch writes to all GPUs, to this one too
    copy(places, sum(rank, rank), {.via = Via::Switch});
  }
}
