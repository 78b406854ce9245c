// The order of sums is part of the summary, and --verify=invariant makes it an error if it depends on the chunk.
// REQUIRES: frontend
// RUN: mscclc %s --verify | FileCheck %s --check-prefix=ROTATED
// RUN: %verify %s --verify=invariant
// RUN: mscclc %s -P order=1 --verify=invariant | FileCheck %s --check-prefix=RANKS
// RUN: mscclc %s -P order=2 --verify=invariant | FileCheck %s --check-prefix=TREE
// The last sum is one of two, so that what is before it is narrowed: of one chunk of the two.
// RUN: mscclc %s -P order=3 --verify | FileCheck %s --check-prefix=NARROWED
// RUN: not mscclc %s -P order=3 --verify=invariant 2>&1 | FileCheck %s --check-prefix=BRACKETS
// RUN: mscclc %s -P order=1 -P ranks=16 --verify | FileCheck %s --check-prefix=LONG
// Plans, IR and several values.
// RUN: mscclc %s -P order=2 --target=none -o %t.json && mscclc %t.json --verify=invariant | FileCheck %s --check-prefix=TREE
// RUN: mscclc %s -P order=2 --emit-ir -o %t.ir && mscclc %t.ir --verify=invariant | FileCheck %s --check-prefix=TREE
// RUN: mscclc %s --target=none -o %t.json
// RUN: not mscclc %t.json --verify=invariant 2>&1 | FileCheck %s --check-prefix=PLAN
// RUN: mscclc %s -P order=0,1 -P ranks=3,4 --verify | FileCheck %s --check-prefix=ROWS
// RUN: not mscclc %s -P order=0..1 --verify=invariant 2>/dev/null | FileCheck %s --check-prefix=ONE
// What a switch adds has no order that anybody knows; of two ranks there is but one.
// RUN: mscclc %samples/allreduce_nvls.cpp -P ranks=4 --verify=consistent | FileCheck %s --check-prefix=SWITCH
// RUN: not mscclc %samples/allreduce_nvls.cpp -P ranks=4 --verify=invariant 2>&1 | FileCheck %s --check-prefix=BY-SWITCH
// RUN: mscclc %samples/allreduce_nvls.cpp -P ranks=2 --verify=invariant | FileCheck %s --check-prefix=TWO
// RUN: mscclc %samples/allgather_allpairs.cpp --verify=invariant | FileCheck %s --check-prefix=NONE --implicit-check-not=sums
// RUN: not mscclc %s --verify=order 2>&1 | FileCheck %s --check-prefix=WORD
// RUN: not mscclc --verify invariant %s 2>&1 | FileCheck %s --check-prefix=APART
#include <mscclc/dsl.hpp>
using namespace mscclc;

/// Rank `share` adds up that share of all ranks. `order`: 0: beginning with its own; 1: as ranks are numbered; 2: the
/// sum of the first half plus that of the second; 3: as 1, but share 0 in two steps.
MSCCLC_ALGORITHM void sums(int ranks = 4, int order = 0) {
  CollectiveProgram program("sums", ReduceScatter(ranks, 1, false), {.schedule = Schedule::Auto});
  for (int share = 0; share < ranks; ++share) {
    Buffer arrived(share, ranks), partial(share, 2);
    for (int rank = 0; rank < ranks; ++rank)
      copy(arrived[rank], Rank(rank).input()[share]);
    const auto add = [&](Chunk to, int from, int end, int first) {
      List<Chunk> others;
      for (int i = from + 1; i < end; ++i)
        others.push_back(arrived[(i + first) % ranks]);
      // expected-note@+2:7 {{output[0] of rank 0, written here, is 0+1+2+3}}
      // expected-error@+1:7 {{not invariant: output[0] of rank 0 is 0+1+2+3, and output[0] of rank 1 is 1+2+3+0}}
      reduce(to, arrived[(from + first) % ranks], others);
    };
    const Chunk result = Rank(share).output()[0];
    if (order == 2) {
      add(partial[0], 0, 2, 0);
      add(partial[1], 2, 4, 0);
      reduce(result, partial[0], {partial[1]});
    } else if (order == 3 && share == 0) {
      add(partial[0], 0, ranks - 1, 0);
      reduce(result, partial[0], {arrived[ranks - 1]});
    } else {
      add(result, 0, ranks, order == 0 ? share : 0); // expected-note@:7 {{called from here}}
    }
  }
}

// ROTATED: sums: proven: 4 ranks
// ROTATED-NEXT: {{^}}sums: the order depends on the chunk: output[0] of rank 0 0+1+2+3, output[0] of rank 1 1+2+3+0, narrowed once{{$}}
// RANKS: {{^}}sums: ((0+1)+2)+3 everywhere, narrowed once{{$}}
// TREE: {{^}}sums: (0+1)+(2+3) everywhere, narrowed 3 times{{$}}
// NARROWED: {{^}}sums: where they are narrowed, in brackets, depends on the chunk: output[0] of rank 0 [(0+1)+2]+3, output[0] of rank 1 ((0+1)+2)+3{{$}}
// BRACKETS: error: not invariant: output[0] of rank 0 is [(0+1)+2]+3, and output[0] of rank 1 is ((0+1)+2)+3; what stands in brackets is narrowed to the type of elements
// LONG: {{^}}sums: 0+1+2+…+14+15 everywhere, narrowed once{{$}}
// PLAN: gpus[1].threadblocks{{.*}}: error: not invariant: output[0] of rank 0 is 0+1+2+3
// PLAN: gpus[0].threadblocks{{.*}}: note: output[0] of rank 0, written here, is 0+1+2+3
// ROWS: 3 {{.*}} right; order of sums: none
// ROWS: 4 {{.*}} right; order of sums: none
// ROWS: 3 {{.*}} right; order of sums: Ranks and Tree
// ROWS: 4 {{.*}} right; order of sums: Ranks{{$}}
// ONE: 0 {{ *}}1 {{ *}}not invariant
// ONE: 1 {{ *}}0 {{ *}}proven: {{.*}} right; order of sums: Ranks{{$}}
// SWITCH: {{^}}sums: a switch adds in an order of its own: output[0] switch(0, 1, 2, 3){{$}}
// BY-SWITCH: error: not invariant: output[0] of rank 0 is switch(0, 1, 2, 3)
// TWO: {{^}}sums: 0+1 everywhere, narrowed once{{$}}
// NONE: proven: 2 ranks
// WORD: mscclc: error: --verify: 'order' is none of proof, consistent, invariant
// APART: mscclc: error: --verify: write its value as in --verify=invariant
