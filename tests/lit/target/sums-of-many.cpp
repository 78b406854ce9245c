// Sums of what more ranks have put than a block has channels for: relay blocks wait for some of them.
// Each rank adds in an order of its own.
// REQUIRES: frontend
// RUN: mscclc %s --machine gb200x72 --allow=rank-order --verify --target=mscclpp | FileCheck %s
// RUN: mscclc %s --machine gb200x72 --allow=rank-order --run --dtype i32 --size 18K --schedules 2 --target=mscclpp | FileCheck %s --check-prefix=RAN
// CHECK: proven: 18 ranks
// RAN: {{ yes$}}
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void sums_of_many(int ranks = 18) {
  CollectiveProgram program("sums_of_many", AllReduce(ranks, 1, /*inplace=*/true), {.schedule = Schedule::Auto});
  List<Buffer> scratch;
  for (int rank = 0; rank < ranks; ++rank)
    scratch.push_back(Buffer(rank, ranks * ranks));
  for (int rank = 0; rank < ranks; ++rank)
    for (int other = 0; other < ranks; ++other)
      for (int share = 0; other != rank && share < ranks; ++share)
        copy(scratch[rank][other * ranks + share], Rank(other).input()[share]);
  for (int rank = 0; rank < ranks; ++rank)
    for (int share = 0; share < ranks; ++share) {
      List<Chunk> others;
      for (int step = 1; step < ranks; ++step)
        others.push_back(scratch[rank][(rank + step) % ranks * ranks + share]);
      reduce(Rank(rank).input()[share], others);
    }
}
