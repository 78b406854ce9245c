// AllReduce, all pairs: every GPU reduces its share from all others, then hands the sum back to them.
//
// When: one NVLink domain of up to 9 GPUs, medium and large messages.
//   mscclc allreduce_allpairs.cpp -P ranks=8 --message-size 1M -o plan.json
// -P order=Ranks adds up every element in the order of ranks.
// -P inplace=false is for calls whose input is another buffer than the output.
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void allreduce_allpairs(int ranks = 8, Order order = Order::Written, bool inplace = true) {
  CollectiveProgram program(
      "allreduce_allpairs", AllReduce(ranks, 1, inplace),
      {.instances = automatic, .protocol = Protocol::Auto, .schedule = Schedule::Auto, .order = order});
  const auto sum = [&](int rank, int share) { return (inplace ? Rank(rank).input() : Rank(rank).output())[share]; };
  for (int rank = 0; rank < ranks; ++rank) {
    List<Chunk> others, places; // the same share on the other GPUs, and the places of its sum there
    for (int step = 1; step < ranks; ++step) {
      others.push_back(Rank((rank + step) % ranks).input()[rank]);
      places.push_back(sum((rank + step) % ranks, rank));
    }
    reduce(sum(rank, rank), Rank(rank).input()[rank], others);
    copy(places, sum(rank, rank));
  }
}
