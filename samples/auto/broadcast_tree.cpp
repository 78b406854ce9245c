// Broadcast, binomial tree: with each step twice as many GPUs have the root's input.
//
// When: small messages on many GPUs: the steps are log2(ranks), rounded up.
//   mscclc broadcast_tree.cpp -P ranks=12 -P root=3 --message-size 8K -o plan.json
// -P inplace=false is for calls whose input is another buffer than the output.
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void broadcast_tree(int ranks = 8, int root = 0, bool inplace = true) {
  CollectiveProgram program("broadcast_tree", Broadcast(ranks, 1, root, inplace),
                            {.instances = automatic, .protocol = Protocol::Auto, .schedule = Schedule::Auto});
  if (!inplace)
    copy(Rank(root).output()[0], Rank(root).input()[0]);
  for (int have = 1; have < ranks; have *= 2)
    for (int from = 0, to = have; from < have && to < ranks; ++from, ++to)
      copy(Rank((root + to) % ranks).output()[0], Rank((root + from) % ranks).output()[0]);
}
