// A signal that nobody waits for.
// RUN: %verify %s
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void gather(int ranks = 4) {
  CollectiveProgram program("missing_wait", AllGather(ranks, 1, true));
  for (int src = 0; src < ranks; ++src)
    for (int dst = 0; dst < ranks; ++dst) {
      if (src == dst)
        continue;
      MemoryChannel channel(dst, src);
      channel.signal(tb(0), {.relaxed = true});
      channel.wait(tb(0), {.sync = Sync::After, .relaxed = true});
      channel.put(Rank(dst).output()[src], Rank(src).output()[src], tb(0));
      channel.signal(tb(0), {.sync = Sync::Before});
    }
}

// expected-error@-7:15 {{memory channel 0 of rank 1 (to rank 0) is signalled 2 times a launch, but its other end, memory channel 0 of rank 0 (to rank 1), waits 1 time}}
// expected-note@-7:15 {{waited on here}}
// expected-note@"mscclc" {{and 11 more like it on other ranks}}
