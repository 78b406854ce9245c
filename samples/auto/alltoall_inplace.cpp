// AllToAll in place: chunk d of every GPU's buffer goes to GPU d, by way of scratch, as what it replaces is still to be
// sent.
//
// When: as alltoall.cpp, where there is no memory for a second buffer.
//   mscclc alltoall_inplace.cpp -P ranks=8 --message-size 1M -o plan.json
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void alltoall_inplace(int ranks = 8) {
  CollectiveProgram program("alltoall_inplace", AllToAll(ranks, 1, /*inplace=*/true),
                            {.instances = automatic, .protocol = Protocol::Auto, .schedule = Schedule::Auto});
  for (int low = 0; low < ranks; ++low)
    for (int high = low + 1; high < ranks; ++high) {
      Buffer kept(low, 1), sent(high, 1);
      copy(kept[0], Rank(high).input()[low]);
      copy(sent[0], Rank(low).input()[high]);
      copy(Rank(low).input()[high], kept[0]);
      copy(Rank(high).input()[low], sent[0]);
    }
}
