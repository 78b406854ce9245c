// A block reads what another writes that is not in its barrier: the schedule is the one that goes wrong.
// RUN: rm -f %t
// RUN: not mscclc %s -o %t 2>&1 | FileCheck %s
// RUN: test ! -e %t
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void shift() {
  CollectiveProgram program("barrier_of_too_few", AllGather(1, 3, false));
  Rank rank(0);
  Buffer scratch(0, 3);
  for (int b = 0; b < 3; ++b)
    rank.copy(scratch[b], rank.input()[b], tb(b));
  rank.barrier({0, 1});
  for (int b = 0; b < 3; ++b)
    rank.copy(rank.output()[(b + 1) % 3], scratch[(b + 1) % 3], tb(b));
}

// CHECK: barrier_of_too_few.cpp:[[#@LINE-3]]:10: error: race on scratch[2] of rank 0: the write ('copy') by rank 0, block 2 and the read ('copy') by rank 0, block 1 are not ordered
// CHECK: barrier_of_too_few.cpp:[[#@LINE-7]]:10: note: the other access: write ('copy') by rank 0, block 2
// CHECK: barrier_of_too_few.cpp:[[#@LINE-5]]:10: note: no sync orders the two blocks: a barrier of blocks 2 and 1, or a semaphore released after the first and acquired before the second, would
// CHECK: barrier_of_too_few.cpp:[[#@LINE-6]]:10: note: schedule 3: rank 0, block 1 reads scratch[2] of rank 0 ('copy')
// CHECK: barrier_of_too_few.cpp:[[#@LINE-10]]:10: note: schedule 4: rank 0, block 2 writes scratch[2] of rank 0 ('copy') only now
