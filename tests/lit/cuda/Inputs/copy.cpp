// SendRecv: every GPU sends its input to the next one.
//
// When: pipeline parallelism, and as the smallest complete example.
//   mscclc sendrecv.cpp -P ranks=2 -o plan.json
#include <mscclc/dsl.hpp>
using namespace mscclc;

/// Each of `threadBlocks` blocks sends one chunk of the input.
MSCCLC_ALGORITHM void sendrecv(int ranks = 2, int threadBlocks = 1) {
  CollectiveProgram program("passing_on", SendRecv(ranks, threadBlocks, /*inplace=*/false));

  for (int rank = 0; rank < ranks; ++rank) {
    const int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
    for (int block = 0; block < threadBlocks; ++block) {
      MemoryChannel toNext(next, rank);
      MemoryChannel toPrevious = ranks == 2 ? toNext : MemoryChannel(previous, rank);

      // The next GPU has started this launch: its output may be written.
      toPrevious.signal(tb(block), {.sync = Sync::None, .relaxed = true});
      toNext.wait(tb(block), {.sync = Sync::After, .relaxed = true});
      toNext.put(Rank(next).output()[block], Rank(rank).input()[block], tb(block));
      toNext.signal(tb(block), {.sync = Sync::Before});
      toPrevious.wait(tb(block), {.sync = Sync::After});
    }
  }
}
