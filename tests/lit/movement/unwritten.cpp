// Chunks that no statement writes: at the collective, with all ranks, by the name that the program uses.
// REQUIRES: frontend
// RUN: %verify %s --algorithm f
// RUN: not mscclc %s --algorithm f -P own=false 2>&1 | FileCheck %s
// RUN: not mscclc %s --algorithm scattered 2>&1 | FileCheck %s --check-prefix=SCATTERED
// RUN: not mscclc %s --algorithm gathered 2>&1 | FileCheck %s --check-prefix=GATHERED
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void f(int ranks = 5, bool own = true) {
  if (own) {
    CollectiveProgram program("allreduce",
                              AllReduce(ranks, 2, /*inplace=*/true), // expected-error@:31 {{no statement writes input[7:10] of ranks 1 to 3, input[9] of rank 4: this allreduce of 5 ranks with chunk factor 2 has 10 chunks on each}}
                              {.schedule = Schedule::Auto});
    for (int rank = 1; rank < ranks; ++rank)
      reduce(Rank(0).input().slice(0, 10), {Rank(rank).input().slice(0, 10)});
    for (int rank = 1; rank < ranks; ++rank)
      copy(Rank(rank).input().slice(0, rank == 4 ? 9 : 7), Rank(0).input().slice(0, rank == 4 ? 9 : 7));
    return;
  }
  // CHECK: unwritten.cpp:[[#@LINE+1]]:41: error: no statement writes output[0] of rank 0, output[1] of rank 1, output[2] of rank 2, nor 2 more output chunks: this alltoall of 5 ranks with chunk factor 1 has 5 output chunks on each
  CollectiveProgram program("alltoall", AllToAll(ranks, 1, false), {.schedule = Schedule::Auto});
  for (int from = 0; from < ranks; ++from)
    for (int to = 0; to < ranks; ++to)
      if (from != to)
        copy(Rank(to).output()[from], Rank(from).input()[to]);
}

// In place, the same chunk of the output is another one of the input on each rank.
MSCCLC_ALGORITHM void scattered() {
  // SCATTERED: unwritten.cpp:[[#@LINE+1]]:42: error: no statement writes input[0] of rank 0, input[1] of rank 1: this reducescatter of 3 ranks with chunk factor 1 has 1 chunk on each
  CollectiveProgram program("scattered", ReduceScatter(3, 1, /*inplace=*/true), {.schedule = Schedule::Auto});
  reduce(Rank(2).input()[2], {Rank(0).input()[2], Rank(1).input()[2]});
}

MSCCLC_ALGORITHM void gathered() {
  // GATHERED: unwritten.cpp:[[#@LINE+1]]:41: error: no statement writes output[2] of ranks 0, 1 and 3, output[0] of ranks 1 and 2: this allgather of 4 ranks with chunk factor 1 has 4 output chunks on each
  CollectiveProgram program("gathered", AllGather(4, 1, /*inplace=*/true), {.schedule = Schedule::Auto});
  for (int src = 0; src < 4; ++src)
    for (int dst = 0; dst < 4; ++dst)
      if (src != dst && src != 2 && (src != 0 || dst == 3))
        copy(Rank(dst).output()[src], Rank(src).output()[src]);
}
