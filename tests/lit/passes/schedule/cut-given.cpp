// A block that statements name takes others only as far as it can reach: 16 ranks of an executor's block.
// RUN: mscclc %s --passes=place,cut --target=mscclpp --emit-ir | FileCheck %s
// RUN: mscclc %s --target=mscclpp --verify
// CHECK: copy 14.output[0:1] <- 0.input[0:1] via memory by 0 block 0 @
// CHECK-NEXT: copy 15.output[0:1] <- 0.input[0:1] via memory by 0 block 0 @
// CHECK-NEXT: copy 16.output[0:1] <- 0.input[0:1] via memory by 0 block 0 @
// CHECK-NEXT: copy 17.output[0:1] <- 0.input[0:1] via memory by 0 block 1 @
// CHECK: copy 30.output[0:1] <- 0.input[0:1] via memory by 0 block 1 @
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void given_block(int ranks = 31) {
  CollectiveProgram program("given_block", Broadcast(ranks, 1, 0, false), {.schedule = Schedule::Auto, .blocks = 2});
  for (int r = 0; r < ranks; ++r)
    if (r <= 14)
      copy(Rank(r).output()[0], Rank(0).input()[0], {.on = tb(0)});
    else
      copy(Rank(r).output()[0], Rank(0).input()[0]);
}
