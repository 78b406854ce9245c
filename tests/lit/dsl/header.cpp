// The header and the example of its documentation read without a warning in a compiler that is not ours.
// RUN: g++ -std=c++20 -fsyntax-only -Wall -Wextra -Wpedantic -Wshadow -Werror -I%samples/../frontend/dsl/include %s
#include <mscclc/dsl.hpp>
using namespace mscclc;

/// Every GPU puts its chunk into every other GPU's output.
MSCCLC_ALGORITHM void allgather_allpairs(int ranks = 2, int chunkFactor = 1) {
  CollectiveProgram program("allgather_allpairs", AllGather(ranks, chunkFactor, /*inplace=*/true),
                            {.maxMessageSize = 1_GiB});
  for (int src = 0; src < ranks; ++src) {
    Chunk mine = Rank(src).output()[src];
    for (int dst = 0; dst < ranks; ++dst) {
      if (src == dst)
        continue;
      MemoryChannel channel(dst, src);
      channel.signal(tb(0), {.relaxed = true});
      channel.wait(tb(0), {.sync = Sync::After, .relaxed = true});
      channel.put(Rank(dst).output()[src], mine, tb(0));
      channel.signal(tb(0), {.sync = Sync::Before});
      channel.wait(tb(0), {.sync = Sync::After});
    }
  }
}
