// Reduce, chain: partial sums go from one GPU to the next towards the root, chunk by chunk.
//
// When: large messages. Each link carries the message once. A GPU keeps the partial sums that it gets in its output,
// which only the root's user looks at.
//   mscclc reduce_chain.cpp -P ranks=8 -P threadBlocks=4 -o plan.json
#include <mscclc/dsl.hpp>
#include <optional>
using namespace mscclc;

/// Each of `threadBlocks` blocks reduces its part of the message in `steps` chunks.
MSCCLC_ALGORITHM void reduce_chain(int ranks = 4, int root = 0, int threadBlocks = 1, int steps = 4) {
  CollectiveProgram program("reduce_chain", Reduce(ranks, threadBlocks * steps, root, /*inplace=*/false));

  for (int position = 0; position < ranks; ++position) {
    const int rank = (root + position) % ranks, next = (rank + ranks - 1) % ranks, previous = (rank + 1) % ranks;
    const Rank here(rank);

    for (int block = 0; block < threadBlocks; ++block) {
      std::optional<MemoryChannel> fromPrevious, toNext;
      if (position + 1 < ranks)
        fromPrevious.emplace(previous, rank);
      if (position > 0)
        toNext.emplace(next, rank);

      // The next GPU has started this launch: its output may be written.
      if (fromPrevious)
        fromPrevious->signal(tb(block), {.sync = Sync::None, .relaxed = true});
      if (toNext)
        toNext->wait(tb(block), {.sync = Sync::After, .relaxed = true});

      for (int step = 0; step < steps; ++step) {
        const int chunk = block * steps + step;
        if (ranks == 1)
          here.copy(here.output()[chunk], here.input()[chunk], tb(block));
        if (fromPrevious) {
          fromPrevious->wait(tb(block), {.sync = Sync::After});
          here.reduce(here.output()[chunk], {here.input()[chunk]}, tb(block));
        }
        if (toNext) {
          toNext->put(Rank(next).output()[chunk], (fromPrevious ? here.output() : here.input())[chunk], tb(block));
          toNext->signal(tb(block), {.sync = Sync::Before});
        }
      }
    }
  }
}
