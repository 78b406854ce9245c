// Nodes have the same number of ranks.
// RUN: %verify %s
// RUN: mscclc %s -P perNode=3 --emit-ir --passes= | FileCheck %s
// CHECK: ranks_per_node 3
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void f(int ranks = 6, int perNode = 4) {
  // expected-error@+1:21 {{6 ranks do not make nodes of 4: each node has the same number of ranks}}
  CollectiveProgram program("p", AllGather(ranks, 1, true), {.schedule = Schedule::Auto, .ranksPerNode = perNode});
  copy(Rank(0).output()[1], Rank(1).output()[1]);
}
