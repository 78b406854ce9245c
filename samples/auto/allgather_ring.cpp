// AllGather, ring: every GPU passes on to the next what it got from the previous one.
//
// When: large messages on links where only neighbours are fast, or to keep each GPU's traffic on one link.
//   mscclc allgather_ring.cpp -P ranks=8 --message-size 64M -o plan.json
// -P inplace=false is for calls whose input is another buffer than the output.
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void allgather_ring(int ranks = 8, bool inplace = true) {
  CollectiveProgram program("allgather_ring", AllGather(ranks, 1, inplace),
                            {.instances = automatic, .protocol = Protocol::Auto, .schedule = Schedule::Auto});
  if (!inplace)
    for (int rank = 0; rank < ranks; ++rank)
      copy(Rank(rank).output()[rank], Rank(rank).input()[0]);
  for (int step = 0; step + 1 < ranks; ++step)
    for (int share = 0; share < ranks; ++share) {
      const int holder = (share + step) % ranks, next = (holder + 1) % ranks;
      copy(Rank(next).output()[share], Rank(holder).output()[share]);
    }
}
