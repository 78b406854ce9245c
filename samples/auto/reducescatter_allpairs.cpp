// ReduceScatter, all pairs: every GPU reduces its share from all others into its own.
//
// When: one NVLink domain of up to 9 GPUs; one step.
//   mscclc reducescatter_allpairs.cpp -P ranks=8 --message-size 1M -o plan.json
// -P order=Ranks adds up every element in the order of ranks.
// -P inplace=false is for calls whose input is another buffer than the output.
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void reducescatter_allpairs(int ranks = 8, Order order = Order::Written, bool inplace = true) {
  CollectiveProgram program(
      "reducescatter_allpairs", ReduceScatter(ranks, 1, inplace),
      {.instances = automatic, .protocol = Protocol::Auto, .schedule = Schedule::Auto, .order = order});
  for (int rank = 0; rank < ranks; ++rank) {
    List<Chunk> others; // the same share on the other GPUs
    for (int step = 1; step < ranks; ++step)
      others.push_back(Rank((rank + step) % ranks).input()[rank]);
    Chunk own = Rank(rank).input()[rank];
    reduce(inplace ? own : Rank(rank).output()[0], own, others);
  }
}
