// AllGather, recursive doubling: with each step every GPU holds twice as many chunks.
//
// When: small messages on more GPUs than an all-pairs exchange has channels for: the steps are log2(ranks), rounded up.
// Any number of ranks will do.
//   mscclc allgather_doubling.cpp -P ranks=12 --message-size 8K -o plan.json
// -P inplace=false is for calls whose input is another buffer than the output.
#include <mscclc/dsl.hpp>
using namespace mscclc;

/// In each step a GPU reads from the GPU `have` places ahead, which holds `have` chunks. The last run may be shorter.
MSCCLC_ALGORITHM void allgather_doubling(int ranks = 8, bool inplace = true) {
  CollectiveProgram program("allgather_doubling", AllGather(ranks, 1, inplace),
                            {.instances = automatic, .protocol = Protocol::Auto, .schedule = Schedule::Auto});
  if (!inplace)
    for (int rank = 0; rank < ranks; ++rank)
      copy(Rank(rank).output()[rank], Rank(rank).input()[0]);
  for (int have = 1; have < ranks; have *= 2) {
    const int more = have < ranks - have ? have : ranks - have;
    for (int rank = 0; rank < ranks; ++rank)
      for (int i = 0; i < more; ++i) {
        const int holder = (rank + have) % ranks, share = (holder + i) % ranks;
        copy(Rank(rank).output()[share], Rank(holder).output()[share]);
      }
  }
}
