// Reduce, chain: partial sums go from one GPU to the next towards the root.
//
// When: large messages. Each link carries the message once. A GPU keeps the partial sums in its output, which only the
// root's user looks at.
//   mscclc reduce_chain.cpp -P ranks=8 --message-size 64M -o plan.json
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void reduce_chain(int ranks = 8, int root = 0, bool inplace = false) {
  CollectiveProgram program("reduce_chain", Reduce(ranks, 1, root, inplace),
                            {.instances = automatic, .protocol = Protocol::Auto, .schedule = Schedule::Auto});
  if (ranks == 1)
    copy(Rank(root).output()[0], Rank(root).input()[0]);
  for (int position = ranks - 2; position >= 0; --position) {
    const Rank here((root + position) % ranks), previous((root + position + 1) % ranks);
    Buffer partial = position + 2 == ranks ? previous.input() : previous.output();
    reduce(here.output()[0], here.input()[0], {partial[0]});
  }
}
