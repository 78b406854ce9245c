// A put into the place of another rank.
// RUN: rm -f %t
// RUN: not mscclc %s -o %t 2>&1 | FileCheck %s
// RUN: test ! -e %t
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void gather(int ranks = 4) {
  CollectiveProgram program("wrong_chunk", AllGather(ranks, 1, true));
  for (int src = 0; src < ranks; ++src)
    for (int dst = 0; dst < ranks; ++dst) {
      if (src == dst)
        continue;
      MemoryChannel channel(dst, src);
      channel.signal(tb(0), {.relaxed = true});
      channel.wait(tb(0), {.sync = Sync::After, .relaxed = true});
      channel.put(Rank(dst).output()[(src + 1) % ranks], Rank(src).output()[src], tb(0));
      channel.signal(tb(0), {.sync = Sync::Before});
      channel.wait(tb(0), {.sync = Sync::After});
    }
}

// CHECK: wrong_chunk.cpp:[[#@LINE-6]]:15: error: output[2] of rank 0 ends with input[0] of rank 1 in it, which does not belong there
// CHECK: wrong_chunk.cpp:[[#@LINE-7]]:15: note: last written here, by rank 1, block 0
