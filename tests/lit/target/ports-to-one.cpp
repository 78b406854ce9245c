// What many ranks put to one through ports is received by as many thread blocks as an executor's channels ask for.
// REQUIRES: frontend
// RUN: mscclc %s -P ranks=10,16,20,24,40 --message-size 16K --machine 'h100x8*40' --verify --target=mscclpp | FileCheck %s
// RUN: mscclc %s -P ranks=10,16,20,24,40 --message-size 64M --machine 'h100x8*40' --verify --target=mscclpp | FileCheck %s
// Packets say themselves that they are there. But a launch still says that it has begun to all that put them.
// RUN: mscclc %s -P ranks=10,16,20,24,40 -P packets=1 --message-size 16K --machine 'h100x8*40' --verify --target=mscclpp | FileCheck %s
// CHECK-COUNT-5: proven
// Blocks of one number receive from the ranks that they tell: 8 of each, at most.
// RUN: mscclc %s -P ranks=10 --message-size 16K --machine 'h100x8*10' --emit-ir | FileCheck %s --check-prefix=BLOCKS
// BLOCKS: {{^}}  rank 0 {
// BLOCKS: block 0 {
// BLOCKS: wait port [9, 10, 11, 12, 13, 14, 15, 16]
// BLOCKS: sem_acquire
// BLOCKS: block 1 {
// BLOCKS: wait port [17]
// BLOCKS: sem_release
// BLOCKS: {{^}}  rank 1 {
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void reduce_to_root(int ranks = 10, bool packets = false) {
  CollectiveProgram program("reduce_to_root", Reduce(ranks, 1, /*root=*/0, /*inplace=*/false),
                            {.instances = automatic,
                             .protocol = packets ? Protocol::LL : Protocol::Simple,
                             .schedule = Schedule::Auto,
                             .ranksPerNode = 1});
  List<Chunk> others;
  for (int rank = 1; rank < ranks; ++rank)
    others.push_back(Rank(rank).input()[0]);
  reduce(Rank(0).output()[0], Rank(0).input()[0], others);
}
