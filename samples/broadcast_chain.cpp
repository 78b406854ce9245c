// Broadcast, chain: the root's input goes from one GPU to the next, chunk by chunk.
//
// When: large messages. Each link carries the message once, and all links are busy once the first chunk has passed.
//   mscclc broadcast_chain.cpp -P ranks=8 -P threadBlocks=4 -o plan.json
#include <mscclc/dsl.hpp>
using namespace mscclc;

/// Each of `threadBlocks` blocks passes its part of the message on in `steps` chunks.
MSCCLC_ALGORITHM void broadcast_chain(int ranks = 4, int root = 0, int threadBlocks = 1, int steps = 4) {
  CollectiveProgram program("broadcast_chain", Broadcast(ranks, threadBlocks * steps, root, /*inplace=*/true));

  for (int position = 0; position < ranks; ++position) {
    const int rank = (root + position) % ranks, next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
    auto mine = Rank(rank).output(), theirs = Rank(next).output();

    for (int block = 0; block < threadBlocks; ++block) {
      List<MemoryChannel> fromPrevious, toNext; // none at the ends of the chain
      if (position > 0)
        fromPrevious.push_back(MemoryChannel(previous, rank));
      if (position + 1 < ranks)
        toNext.push_back(MemoryChannel(next, rank));

      // The next GPU has started this launch: its output may be written.
      if (!fromPrevious.empty())
        fromPrevious[0].signal(tb(block), {.sync = Sync::None, .relaxed = true});
      if (!toNext.empty())
        toNext[0].wait(tb(block), {.sync = Sync::After, .relaxed = true});

      // The last GPU passes nothing on. It only has to know when everything has arrived.
      const bool nextIsLast = position + 2 == ranks;
      for (int step = 0; step < steps; ++step) {
        const int chunk = block * steps + step;
        const bool isLastStep = step + 1 == steps;
        if (!fromPrevious.empty() && (!toNext.empty() || isLastStep))
          fromPrevious[0].wait(tb(block), {.sync = Sync::After});
        if (!toNext.empty()) {
          toNext[0].put(theirs[chunk], mine[chunk], tb(block));
          if (!nextIsLast || isLastStep)
            toNext[0].signal(tb(block), {.sync = Sync::Before});
        }
      }
    }
  }
}
