// Two operations of one block with no sync between, automatic sync being off: other threads read than those that write.
// RUN: %verify %s
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void phases() {
  CollectiveProgram program("phases", AllReduce(1, 2, false), {.autoSync = false});
  Rank rank(0);
  Buffer scratch(0, 2);
  rank.copy(scratch.slice(0, 2), rank.input().slice(0, 2), tb(0));
  rank.copy(rank.output()[1], scratch[1], tb(0)); // by other threads than wrote it
  rank.copy(rank.output()[0], rank.input()[0], tb(0));
}

// expected-error@-4:8 {{race on scratch[1] of rank 0: the write ('copy') by rank 0, block 0 and the read ('copy') by rank 0, block 0 are not ordered}}
// expected-note@-6:8 {{the other access: write ('copy') by rank 0, block 0}}
// expected-note@-6:8 {{threads of a block do not wait for each other: a barrier of this block alone between the two operations, or autoSync, would order them}}
// expected-note@-7:8 {{schedule 1: rank 0, block 0 reads scratch[1] of rank 0 ('copy')}}
// expected-note@-9:8 {{schedule 2: rank 0, block 0 writes scratch[1] of rank 0 ('copy') only now}}
