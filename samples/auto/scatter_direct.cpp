// Scatter, direct: the root's shares go straight into the outputs of the others.
//
// When: one NVLink domain; the links out of the root are what takes the time, whatever the others do.
//   mscclc scatter_direct.cpp -P ranks=8 --message-size 1M -o plan.json
// -P inplace=false is for calls whose input is another buffer than the output.
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void scatter_direct(int ranks = 8, int root = 0, bool inplace = true) {
  CollectiveProgram program("scatter_direct", Scatter(ranks, 1, root, inplace),
                            {.instances = automatic, .protocol = Protocol::Auto, .schedule = Schedule::Auto});
  for (int rank = 0; rank < ranks; ++rank)
    copy(Rank(rank).output()[0], Rank(root).input()[rank]);
}
