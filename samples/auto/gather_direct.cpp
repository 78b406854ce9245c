// Gather, direct: every GPU's input goes straight into the root's output.
//
// When: one NVLink domain; the links into the root are what takes the time, whatever the others do.
//   mscclc gather_direct.cpp -P ranks=8 --message-size 1M -o plan.json
// -P inplace=false is for calls whose input is another buffer than the output.
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void gather_direct(int ranks = 8, int root = 0, bool inplace = true) {
  CollectiveProgram program("gather_direct", Gather(ranks, 1, root, inplace),
                            {.instances = automatic, .protocol = Protocol::Auto, .schedule = Schedule::Auto});
  for (int rank = 0; rank < ranks; ++rank)
    copy(Rank(root).output()[rank], Rank(rank).input()[0]);
}
