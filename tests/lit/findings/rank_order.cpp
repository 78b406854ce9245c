// Ranks that add in different orders end with different bits: an error, which --allow names for who does not mind.
// REQUIRES: frontend
// RUN: %verify %s
// RUN: %verify %s --verify
// RUN: mscclc %s --allow=rank-order --verify 2> %t.err | FileCheck %s --check-prefix=PROVEN
// RUN: FileCheck %s --check-prefix=ALLOWED < %t.err
// Sums of integers, minima and sums of two have no order.
// RUN: mscclc %s --emit-cuda --dtype i32,u8 -o /dev/null
// RUN: not mscclc %s --emit-cuda --dtype i32,f32 -o /dev/null 2>&1 | FileCheck %s --check-prefix=FLOATS
// RUN: mscclc %s -P minimum=true --verify | FileCheck %s --check-prefix=MINIMUM --implicit-check-not=sums
// RUN: mscclc %s -P ranks=2 --verify | FileCheck %s --check-prefix=TWO
// What comes from elsewhere is warned of, unless more is asked for.
// RUN: mscclc %s --allow=rank-order -q -o %t.json
// RUN: mscclc %t.json --verify 2>&1 | FileCheck %s --check-prefix=PLAN
// RUN: mscclc %t.json --emit-cuda -o /dev/null 2>&1 | FileCheck %s --check-prefix=PLAN
// RUN: not mscclc %t.json --verify=consistent 2>&1 | FileCheck %s --check-prefix=DEMANDED
// RUN: not mscclc %t.json --verify=invariant 2>&1 | FileCheck %s --check-prefix=DEMANDED
// RUN: mscclc %t.json -q --verify 2>&1 | FileCheck %s --check-prefix=PROVEN --implicit-check-not=warning
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void rank_order(int ranks = 4, bool minimum = false) {
  CollectiveProgram program("rank_order", AllReduce(ranks, 1, false),
                            {.protocol = Protocol::LL, .doubleScratch = true, .minMessageSize = 1});
  List<Buffer> scratch;
  for (int rank = 0; rank < ranks; ++rank)
    scratch.push_back(Buffer(rank, ranks * ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    const Chunk data = Rank(rank).input().slice(0, ranks);
    List<Chunk> arrived;
    for (int step = 1; step < ranks; ++step) {
      const int peer = (rank + step) % ranks;
      MemoryChannel(peer, rank).putPackets(scratch[peer].slice(rank * ranks, (rank + 1) * ranks), data, tb(0));
      arrived.push_back(scratch[rank].slice(peer * ranks, (peer + 1) * ranks));
    }
    // expected-error@+2:16 {{ranks end with different bits: output[0] of rank 0 is 0+1+2+3, and output[0] of rank 1 is 1+2+3+0; let all ranks add in one order, or let one rank add and hand the sum to the others [--allow=rank-order]}}
    // expected-note@+1:16 {{output[0] of rank 0, written here, is 0+1+2+3}}
    Rank(rank).reduce(
        data, arrived, tb(0),
        {.dst = Rank(rank).output().slice(0, ranks), .op = minimum ? ReduceOp::Min : ReduceOp::Sum, .packet = true});
  }
}

// ALLOWED: rank_order.cpp:{{[0-9]+}}:16: warning: ranks end with different bits: output[0] of rank 0 is 0+1+2+3
// ALLOWED: 1 warning generated.
// PROVEN: rank_order: proven: 4 ranks
// PROVEN-NEXT: sums: the order depends on the chunk: output[0] of rank 0 0+1+2+3, output[0] of rank 1 1+2+3+0
// FLOATS: error: ranks end with different bits
// MINIMUM: rank_order: proven: 4 ranks
// TWO: rank_order: proven: 2 ranks
// TWO-NEXT: sums: 0+1 everywhere, narrowed once
// PLAN: gpus[1].threadblocks[0].ops[{{[0-9]}}]: warning: ranks end with different bits where elements are floats: output[0] of rank 0 is 0+1+2+3, and output[0] of rank 1 is 1+2+3+0 [ranks-may-differ]{{$}}
// DEMANDED: gpus[1].threadblocks[0].ops[{{[0-9]}}]: error: ranks end with different bits: output[0] of rank 0 is 0+1+2+3, and output[0] of rank 1 is 1+2+3+0 [ranks-differ-here]{{$}}
// DEMANDED: 1 error generated.
