// The reduction that takes a wrong chunk is at fault, not the copies of its result; in place, chunks have the names that
// the source gives them.
// RUN: %verify %s
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void f(int ranks = 4) {
  CollectiveProgram program("f", AllReduce(ranks, 1, true), {.schedule = Schedule::Auto});
  for (int rank = 0; rank < ranks; ++rank) {
    List<Chunk> others;
    for (int step = 1; step < ranks; ++step)
      others.push_back(Rank((rank + step) % ranks).input()[(rank + (step == 2)) % ranks]);
    // expected-note@"" {{and 3 more like it}}
    // expected-error@+1:5 {{input[0] of rank 0 has input[1] of rank 2 in it, which does not belong there}}
    reduce(Rank(rank).input()[rank], others);
    for (int step = 1; step < ranks; ++step)
      copy(Rank((rank + step) % ranks).input()[rank], Rank(rank).input()[rank]);
  }
}
