// An element is copied on by the thread that copied it, if both operations begin at one place: here they do not.
// RUN: not mscclc %s -O0 --verify 2>&1 | FileCheck %s
// RUN: mscclc %s -O0 --verify -P apart=0 | FileCheck %s --check-prefix=RIGHT
// RUN: mscclc %s -O0 --run --schedules 100 -P apart=0
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void other_start(int apart = 1) {
  CollectiveProgram program("other_start", CustomCollective("move", 1, 3, 3, false).expect(0, 0, {{0, 1}}),
                            {.autoSync = false});
  Rank rank(0);
  Buffer scratch(0, 3);
  rank.copy(scratch.slice(0, 2), rank.input().slice(1 - apart, 3 - apart), tb(0));
  rank.copy(rank.output().slice(0, 2 - apart), scratch.slice(apart, 2), tb(0));
}

// CHECK: other_start.cpp:[[#@LINE-3]]:8: error: race on scratch[1] of rank 0: the write ('copy') by rank 0, block 0 and the read ('copy') by rank 0, block 0 are not ordered
// CHECK: other_start.cpp:[[#@LINE-5]]:8: note: the other access: write ('copy') by rank 0, block 0
// RIGHT: other_start: proven
