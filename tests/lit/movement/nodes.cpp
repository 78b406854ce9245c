// Nodes have the same number of ranks.
// RUN: %verify %s
// RUN: mscclc %s -P perNode=3 --emit-ir --passes= | FileCheck %s
// CHECK: ranks_per_node 3
// RUN: mscclc %s -P perNode=3 --emit-ir --passes= | sed 's/ranks_per_node 3/ranks_per_node 13/' > %t.ir
// RUN: not mscclc %t.ir --verify 2>&1 | FileCheck %s --check-prefix=UNEVEN
// UNEVEN: nodes.cpp{{.*}}:3:1: error: 6 ranks do not make nodes of 13: each node has the same number of ranks
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void f(int ranks = 6, int perNode = 4) {
  // expected-error@+1:21 {{6 ranks do not make nodes of 4: each node has the same number of ranks}}
  CollectiveProgram program("p", AllGather(ranks, 1, true), {.schedule = Schedule::Auto, .ranksPerNode = perNode});
  copy(Rank(0).output()[1], Rank(1).output()[1]);
}
