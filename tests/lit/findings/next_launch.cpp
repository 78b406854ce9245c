// Nothing tells that the peer has begun this launch; and where it is told, the wait has to be over.
// RUN: %verify %s
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void gather(int ranks = 8) {
  CollectiveProgram program("next_launch", AllGather(ranks, 1, true));
  for (int src = 0; src < ranks; ++src)
    for (int dst = 0; dst < ranks; ++dst) {
      if (src == dst)
        continue;
      MemoryChannel channel(dst, src);
      channel.put(Rank(dst).output()[src], Rank(src).output()[src], tb(0));
      channel.signal(tb(0), {.sync = Sync::Before});
      channel.wait(tb(0), {.sync = Sync::After});
    }
}

// expected-error@-6:15 {{rank 0, block 0 may write output[0] of rank 1 before rank 1 begins its launch: that rank may still run the launch before, or its user may still use the buffer}}
// expected-note-re@-7:15 {{no sync of this launch tells rank 0 that rank 1 has ended the one before: a relaxed signal from rank 1 at its start and a wait for it (Sync::After) would{{$}}}}
// expected-note@-8:15 {{schedule 1: rank 0, block 0 writes output[0] of rank 1 ('put')}}
// expected-note@"rank 1" {{schedule 2: rank 1 begins; its user has written output[0] of rank 1 only now}}
// expected-note@"mscclc" {{and 34 more like it on other ranks}}
