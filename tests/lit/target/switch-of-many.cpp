// What a block does through the switch of many ranks begins and ends by signals to all of them. Relay blocks, which move
// no data, have the channels that are too many for an executor's block; semaphores connect them to it.
// REQUIRES: frontend
// RUN: mscclc %samples/auto/allgather_nvls.cpp -P ranks=17,18,24,32,64,72 --machine gb200x72 --verify --target=mscclpp | FileCheck %s
// RUN: mscclc %samples/auto/allreduce_nvls.cpp -P ranks=17,18,24,32,64,72 --machine gb200x72 --verify --target=mscclpp | FileCheck %s
// RUN: mscclc %samples/auto/allreduce_nvls.cpp -P ranks=24 --machine gb200x72 --run --schedules 3 --target=mscclpp | FileCheck %s --check-prefix=RAN
// RUN: mscclc %samples/auto/allgather_nvls.cpp -P ranks=64 --machine gb200x72 -o %t.json
// RUN: mscclc %t.json --verify --target=mscclpp | FileCheck %s --check-prefix=PROVEN
// CHECK-COUNT-6: proven
// PROVEN: proven: 64 ranks
// RAN: {{ yes$}}
// Data may come through other blocks before.
// RUN: mscclc %s --machine gb200x72 --verify --target=mscclpp | FileCheck %s --check-prefix=SCRATCH
// RUN: mscclc %s --machine gb200x72 --run --schedules 3 --target=mscclpp | FileCheck %s --check-prefix=RAN
// SCRATCH: proven
// RUN: mscclc %samples/auto/allgather_nvls.cpp -P ranks=18 --machine gb200x72 --emit-ir | FileCheck %s --check-prefix=BLOCKS
// BLOCKS: {{^}}  rank 0 {
// BLOCKS: block 0 {
// BLOCKS: sem_acquire [1]
// BLOCKS-NEXT: rlxwait memory [0, 1, 2, 3, 4, 5, 6, 7]
// BLOCKS-NEXT: rlxwait memory [8, 9, 10, 11, 12, 13, 14, 15]
// BLOCKS: gstore
// BLOCKS: sem_release [0]
// BLOCKS: block 1 {
// BLOCKS-NEXT: channels [memory 16]
// BLOCKS-NEXT: rlxsignal memory [16]
// BLOCKS-NEXT: rlxwait memory [16]
// BLOCKS-NEXT: sem_release [1]
// BLOCKS-NEXT: sem_acquire [0]
// BLOCKS-NEXT: signal memory [16]
// BLOCKS-NEXT: wait memory [16]
// BLOCKS-NEXT: }
// BLOCKS-NEXT: }
// All ranks do the same.
// BLOCKS: {{^}}  rank 17 {
// BLOCKS: block 1 {
// BLOCKS-NEXT: channels [memory 16]
// Where the channels fit, and without an executor's limits, one block does it all.
// RUN: mscclc %samples/auto/allgather_nvls.cpp -P ranks=17 --machine gb200x72 --emit-ir | FileCheck %s --check-prefix=ONE
// RUN: mscclc %samples/auto/allgather_nvls.cpp -P ranks=18 --machine gb200x72 --emit-ir --target=none | FileCheck %s --check-prefix=ONE
// ONE-NOT: sem_acquire
// ONE: gstore
// ONE-NOT: sem_acquire
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void through_scratch(int ranks = 18) {
  CollectiveProgram program("through_scratch", AllGather(ranks, 1, /*inplace=*/false), {.schedule = Schedule::Auto});
  List<Buffer> scratch;
  for (int rank = 0; rank < ranks; ++rank)
    scratch.push_back(Buffer(rank, ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    List<Chunk> places;
    for (int other = 0; other < ranks; ++other)
      places.push_back(scratch[other][rank]);
    copy(places, Rank(rank).input()[0], {.via = Via::Switch});
  }
  for (int rank = 0; rank < ranks; ++rank)
    for (int other = 0; other < ranks; ++other)
      copy(Rank(rank).output()[other], scratch[rank][other]);
}
