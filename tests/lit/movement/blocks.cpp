// A rank has no more blocks than `.blocks` says, the stages of a pipeline counted.
// REQUIRES: frontend
// RUN: mscclc %s --message-size 64M --machine h100x8 --target=none --emit-ir | FileCheck %s
// CHECK-NOT: {{^ *}}block 1 {
// Nor are there blocks of stages that the rank has no part in: a launch counts the blocks without operations, too.
// RUN: mscclc %s -P ranks=8 -P blocks=32 --message-size 64M --target=mscclpp --emit-ir | FileCheck %s --check-prefix=STAGES
// STAGES: {{^ *}}block 31 {
// STAGES-NOT: {{^ *}}block 32 {
// A pipeline whose stages want more blocks than there may be gives way to one that takes fewer, or to none.
// RUN: mscclc %s -P ranks=8 -P blocks=1 --message-size 64M --target=mscclpp --emit-ir | FileCheck %s
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void reduce_chain(int ranks = 3, int root = 0, int blocks = 1) {
  CollectiveProgram program(
      "reduce_chain", Reduce(ranks, 1, root, /*inplace=*/false),
      {.instances = automatic, .protocol = Protocol::Simple, .schedule = Schedule::Auto, .blocks = blocks});
  for (int position = ranks - 2; position >= 0; --position) {
    const Rank here((root + position) % ranks), previous((root + position + 1) % ranks);
    Buffer partial = position + 2 == ranks ? previous.input() : previous.output();
    reduce(here.output()[0], here.input()[0], {partial[0]});
  }
}
