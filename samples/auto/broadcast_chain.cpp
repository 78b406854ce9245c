// Broadcast, chain: the root's input goes from one GPU to the next.
//
// When: large messages. Each link carries the message once, and all links are busy once the first part has passed.
//   mscclc broadcast_chain.cpp -P ranks=8 --message-size 64M -o plan.json
// -P inplace=false is for calls whose input is another buffer than the output.
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void broadcast_chain(int ranks = 8, int root = 0, bool inplace = true) {
  CollectiveProgram program("broadcast_chain", Broadcast(ranks, 1, root, inplace),
                            {.instances = automatic, .protocol = Protocol::Auto, .schedule = Schedule::Auto});
  if (!inplace)
    copy(Rank(root).output()[0], Rank(root).input()[0]);
  for (int position = 1; position < ranks; ++position)
    copy(Rank((root + position) % ranks).output()[0], Rank((root + position - 1) % ranks).output()[0]);
}
