// What a port put into scratch is not made visible by packets that its rank sends in the next launch: before another
// port puts there, in the launch after that, its rank is told by a signal.
// REQUIRES: frontend
// RUN: mscclc %s --target=none --verify | FileCheck %s
// CHECK: proven: 4 ranks, 3 launches
// RUN: mscclc %s --target=none --passes=place,order,cut,synchronise,lower-data-sync,infer-sync,replicate-instances --verify | FileCheck %s
#include <mscclc/dsl.hpp>
using namespace mscclc;

/// Rank 1 keeps plain data, and so gets no packets; through rank 0, those that it sends reach rank 2.
MSCCLC_ALGORITHM void allgather() {
  CollectiveProgram program("allgather", AllGather(4, 1, /*inplace=*/false),
                            {.instances = 1, .protocol = Protocol::LL, .schedule = Schedule::Auto, .ranksPerNode = 2});
  const auto output = [](int rank, int of) { return Rank(rank).output()[of]; };
  const auto input = [](int rank) { return Rank(rank).input()[0]; };
  Buffer kept(1, 1);
  for (int rank : {2, 3}) {
    copy(kept[0], input(rank));
    copy(output(1, rank), kept[0]);
  }
  copy(output(0, 1), input(1));
  copy(output(2, 1), output(0, 1));
  copy(output(1, 0), input(0));
  copy(output(2, 0), input(0));
  copy(output(0, 2), input(2));
  copy(output(0, 3), input(3));
  copy(output(2, 3), input(3));
  for (int of = 0; of < 3; ++of)
    copy(output(3, of), of == 2 ? input(2) : output(2, of));
  for (int rank = 0; rank < 4; ++rank)
    copy(output(rank, rank), input(rank));
}
