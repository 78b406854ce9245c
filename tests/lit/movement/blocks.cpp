// A rank has no more blocks than `.blocks` says, the stages of a pipeline counted.
// REQUIRES: frontend
// RUN: mscclc %s --message-size 64M --machine h100x8 --target=none --emit-ir | FileCheck %s
// CHECK-NOT: {{^ *}}block 1 {
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void reduce_chain(int ranks = 3, int root = 0) {
  CollectiveProgram program("reduce_chain", Reduce(ranks, 1, root, /*inplace=*/false),
                            {.instances = 1, .protocol = Protocol::Simple, .schedule = Schedule::Auto, .blocks = 1});
  for (int position = ranks - 2; position >= 0; --position) {
    const Rank here((root + position) % ranks), previous((root + position + 1) % ranks);
    Buffer partial = position + 2 == ranks ? previous.input() : previous.output();
    reduce(here.output()[0], here.input()[0], {partial[0]});
  }
}
