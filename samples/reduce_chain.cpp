// Reduce, chain: partial sums go from one GPU to the next towards the root, chunk by chunk.
//
// When: large messages. Each link carries the message once. A GPU keeps the partial sums that it gets in its output,
// which only the root's user looks at.
//   mscclc reduce_chain.cpp -P ranks=8 -P threadBlocks=4 -o plan.json
#include <mscclc/dsl.hpp>
using namespace mscclc;

/// Each of `threadBlocks` blocks reduces its part of the message in `steps` chunks.
MSCCLC_ALGORITHM void reduce_chain(int ranks = 4, int root = 0, int threadBlocks = 1, int steps = 4) {
  CollectiveProgram program("reduce_chain", Reduce(ranks, threadBlocks * steps, root, /*inplace=*/false));

  for (int position = 0; position < ranks; ++position) {
    const int rank = (root + position) % ranks, next = (rank + ranks - 1) % ranks, previous = (rank + 1) % ranks;
    const Rank here(rank);

    for (int block = 0; block < threadBlocks; ++block) {
      List<MemoryChannel> fromPrevious, toNext; // none at the ends of the chain
      if (position + 1 < ranks)
        fromPrevious.push_back(MemoryChannel(previous, rank));
      if (position > 0)
        toNext.push_back(MemoryChannel(next, rank));

      // The next GPU has started this launch: its output may be written.
      if (!fromPrevious.empty())
        fromPrevious[0].signal(tb(block), {.sync = Sync::None, .relaxed = true});
      if (!toNext.empty())
        toNext[0].wait(tb(block), {.sync = Sync::After, .relaxed = true});

      for (int step = 0; step < steps; ++step) {
        const int chunk = block * steps + step;
        if (ranks == 1)
          here.copy(here.output()[chunk], here.input()[chunk], tb(block));
        if (!fromPrevious.empty()) {
          fromPrevious[0].wait(tb(block), {.sync = Sync::After});
          here.reduce(here.output()[chunk], {here.input()[chunk]}, tb(block));
        }
        if (!toNext.empty()) {
          const Chunk sum = fromPrevious.empty() ? here.input()[chunk] : here.output()[chunk];
          toNext[0].put(Rank(next).output()[chunk], sum, tb(block));
          toNext[0].signal(tb(block), {.sync = Sync::Before});
        }
      }
    }
  }
}
