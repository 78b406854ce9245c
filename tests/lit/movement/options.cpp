// Options of programs of statements that cannot be.
// RUN: %verify %s
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void f(int ranks = 6) {
  // expected-error@+5:21 {{'.doubleScratch = true' cannot be used in a program of Schedule::Auto: the compiler doubles scratch where packets need it, so leave it out}}
  // expected-error@+4:21 {{'.autoSync = false' cannot be used in a program of Schedule::Auto: leave it out, as the compiler makes all sync}}
  // expected-error@+3:21 {{'.replication = Replication::None' cannot be used in a program of Schedule::Auto: leave it out, as each instance takes its part of every chunk}}
  // expected-error@+2:21 {{a node cannot have -2 ranks: it has 1 to 6, or with 0 all ranks are of one node}}
  // expected-error@+1:21 {{a rank cannot have 4097 thread blocks: it has 1 to 4096, or with 0 as many as are useful}}
  CollectiveProgram program("p", AllGather(ranks, 1, true), {.autoSync = false, .replication = Replication::None, .doubleScratch = true, .schedule = Schedule::Auto, .ranksPerNode = -2, .blocks = 4097});
  copy(Rank(0).output()[1], Rank(1).output()[1]);
}
