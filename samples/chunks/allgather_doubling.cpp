// AllGather, recursive doubling, in the chunk language: with each step every GPU holds twice as many chunks.
//
// When: small messages on more GPUs than an all-pairs exchange has channels for: the steps are log2(ranks), rounded up.
// Any number of ranks will do.
//   mscclc allgather_doubling.cpp -P ranks=12 --message-size 8K -o plan.json
#include <mscclc/chunks.hpp>
using namespace mscclc;

/// Each GPU copies the run of chunks that the GPU `have` further on holds. A run may wrap around the end of the output.
MSCCLC_ALGORITHM void allgather_doubling(int ranks = 8) {
  CollectiveProgram program("allgather_doubling", AllGather(ranks, 1, /*inplace=*/true),
                            {.instances = automatic, .protocol = Protocol::Auto, .schedule = Schedule::Auto});
  for (int have = 1; have < ranks; have *= 2) {
    const int more = have < ranks - have ? have : ranks - have;
    for (int rank = 0; rank < ranks; ++rank) {
      const int holder = (rank + have) % ranks, before = more < ranks - holder ? more : ranks - holder;
      chunk(holder, BufferType::Output, holder, before).copy(rank, BufferType::Output, holder);
      if (before < more)
        chunk(holder, BufferType::Output, 0, more - before).copy(rank, BufferType::Output, 0);
    }
  }
}
