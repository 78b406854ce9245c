// A hook without arrays of its rank is applied by the owner of a share, before it is copied: once for all ranks.
// REQUIRES: frontend
// RUN: mscclc %s --verify
// RUN: mscclc %s -P protocol=LL --verify
// RUN: mscclc %s -P ranks=4 --run --schedules 10
// RUN: mscclc %s --target=none --explain | FileCheck %s --check-prefix=EARLY
// EARLY: apply inside the rank (3 times)
// RUN: mscclc %s -P bias=true --target=none --explain | FileCheck %s --check-prefix=LATE
// LATE: apply inside the rank (9 times)
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void allreduce_scale(int ranks = 3, Protocol protocol = Protocol::Simple, bool bias = false) {
  CollectiveProgram program("allreduce_scale", AllReduce(ranks, 1, /*inplace=*/true).then("scale"),
                            {.protocol = protocol, .schedule = Schedule::Auto});
  HookOptions options{.reads = {"factor"}, .equal = {"factor"}};
  if (bias)
    options.reads.push_back("bias");
  Hook scale("scale", options);
  for (int rank = 0; rank < ranks; ++rank) {
    List<Chunk> others;
    for (int step = 1; step < ranks; ++step)
      others.push_back(Rank((rank + step) % ranks).input()[rank]);
    reduce(Rank(rank).input()[rank], others);
    copy(others, Rank(rank).input()[rank]);
  }
  for (int rank = 0; rank < ranks; ++rank)
    apply(scale, Rank(rank).input().slice(0, ranks));
}
