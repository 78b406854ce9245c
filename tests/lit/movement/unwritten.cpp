// Chunks that no statement writes: at the collective, with all ranks, by the name that the program uses.
// REQUIRES: frontend
// RUN: %verify %s
// RUN: not mscclc %s -P own=false 2>&1 | FileCheck %s
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void f(int ranks = 5, bool own = true) {
  if (own) {
    CollectiveProgram program("allreduce",
                              AllReduce(ranks, 2, /*inplace=*/true), // expected-error@:31 {{no statement writes input[7:10] of ranks 1 to 3, input[9] of rank 4: this allreduce of 5 ranks with chunk factor 2 has 10 output chunks on each}}
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
