// Packets of the next launch over those that are still read.
// RUN: rm -f %t
// RUN: not mscclc %s -o %t 2>&1 | FileCheck %s
// RUN: test ! -e %t
// The same as a plan, in a plan's words.
// RUN: mscclc %s --no-verify -o %t.json
// RUN: not mscclc %t.json --verify 2>&1 | FileCheck %s --check-prefix=PLAN
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void packets(int ranks = 2) {
  CollectiveProgram program("packets", AllGather(ranks, 1, false), {.protocol = Protocol::LL});
  List<Buffer> scratch;
  for (int r = 0; r < ranks; ++r)
    scratch.push_back(Buffer(r, ranks));
  for (int r = 0; r < ranks; ++r) {
    Rank(r).copy(Rank(r).output()[r], Rank(r).input()[0], tb(0));
    for (int p = 0; p < ranks; ++p) {
      if (p == r)
        continue;
      MemoryChannel channel(p, r);
      channel.putPackets(scratch[p][r], Rank(r).input()[0], tb(0));
      Rank(r).unpackPackets(Rank(r).output()[p], scratch[r][p], tb(1));
    }
  }
}

// CHECK: packets_without_double_scratch.cpp:[[#@LINE-6]]:15: error: launched again, it races on packet scratch[0] of rank 1: the read ('unpackPackets') by rank 1, block 1 of one launch and the write ('putPackets') by rank 0, block 0 of a later one are not ordered
// CHECK: packets_without_double_scratch.cpp:[[#@LINE-6]]:15: note: the other access: read ('unpackPackets') by rank 1, block 1
// CHECK: packets_without_double_scratch.cpp:[[#@LINE-8]]:15: note: no sync of this launch tells rank 0 that rank 1 has ended the one before: a relaxed signal from rank 1 at its start and a wait for it (Sync::After) would, or scratch in two halves (ProgramOptions::doubleScratch)
// CHECK: packets_without_double_scratch.cpp:[[#@LINE-9]]:15: note: schedule 4: rank 0, block 0 writes packet scratch[0] of rank 1 ('putPackets')
// CHECK: packets_without_double_scratch.cpp:[[#@LINE-9]]:15: note: schedule 5: rank 1, block 1 reads packet scratch[0] of rank 1 ('unpackPackets') only now
// CHECK: mscclc: note: and 1 more like it on other ranks
// PLAN: error: launched again, it races on packet scratch[0] of rank 1: the read ('upkt') by rank 1, block 1 of one launch and the write ('ppkt') by rank 0, block 0 of a later one are not ordered
// PLAN: note: the other access: read ('upkt') by rank 1, block 1
// PLAN: note: no sync of this launch tells rank 0 that rank 1 has ended the one before: a relaxed signal from rank 1 at its start and a wait for it (with a nop after it) would, or scratch in two halves (double_scratch)
// PLAN: note: schedule 4: rank 0, block 0 writes packet scratch[0] of rank 1 ('ppkt')
