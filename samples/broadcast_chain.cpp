// Broadcast, chain: the root's input goes from one GPU to the next, chunk by chunk.
//
// When: large messages. Each link carries the message once, and all links are busy once the first chunk has passed.
//   mscclc broadcast_chain.cpp -P ranks=8 -P threadBlocks=4 -o plan.json
#include <mscclc/dsl.hpp>
#include <optional>
using namespace mscclc;

/// Each of `threadBlocks` blocks passes its part of the message on in `steps` chunks.
MSCCLC_ALGORITHM void broadcast_chain(int ranks = 4, int root = 0, int threadBlocks = 1, int steps = 4) {
  CollectiveProgram program("broadcast_chain", Broadcast(ranks, threadBlocks * steps, root, /*inplace=*/true));

  for (int position = 0; position < ranks; ++position) {
    const int rank = (root + position) % ranks, next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
    auto mine = Rank(rank).output(), theirs = Rank(next).output();

    for (int block = 0; block < threadBlocks; ++block) {
      std::optional<MemoryChannel> fromPrevious, toNext;
      if (position > 0)
        fromPrevious.emplace(previous, rank);
      if (position + 1 < ranks)
        toNext.emplace(next, rank);

      // The next GPU has started this launch: its output may be written.
      if (fromPrevious)
        fromPrevious->signal(tb(block), {.sync = Sync::None, .relaxed = true});
      if (toNext)
        toNext->wait(tb(block), {.sync = Sync::After, .relaxed = true});

      // The last GPU passes nothing on: it need only know when all is there.
      const bool nextIsLast = position + 2 == ranks;
      for (int step = 0; step < steps; ++step) {
        const int chunk = block * steps + step;
        const bool isLastStep = step + 1 == steps;
        if (fromPrevious && (toNext || isLastStep))
          fromPrevious->wait(tb(block), {.sync = Sync::After});
        if (toNext) {
          toNext->put(theirs[chunk], mine[chunk], tb(block));
          if (!nextIsLast || isLastStep)
            toNext->signal(tb(block), {.sync = Sync::Before});
        }
      }
    }
  }
}
