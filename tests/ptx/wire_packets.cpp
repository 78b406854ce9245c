// An all-reduce in two hops by packets that hold values of a wire format, and then a function on rows.
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void wire_packets(int ranks = 3, Protocol protocol = Protocol::LL) {
  CollectiveProgram program(
      "wire_packets", AllReduce(ranks, 1, /*inplace=*/true).then("add_rms_norm"),
      {.protocol = protocol, .schedule = Schedule::Auto, .order = Order::Ranks, .wire = Wire::F8E4m3{.block = 64}});
  Hook norm("add_rms_norm", {.granularity = Granularity::Row,
                             .reads = {"residual", "gamma", "epsilon"},
                             .writes = {"residual"},
                             .equal = {"gamma", "epsilon"},
                             .function = "mscclc::hooks::AddRmsNorm",
                             .header = "mscclc/hooks/add_rms_norm.cuh"});
  for (int rank = 0; rank < ranks; ++rank) {
    List<Chunk> others;
    for (int step = 1; step < ranks; ++step)
      others.push_back(Rank((rank + step) % ranks).input()[rank]);
    reduce(Rank(rank).input()[rank], others);
    copy(others, Rank(rank).input()[rank]);
  }
  for (int rank = 0; rank < ranks; ++rank)
    apply(norm, Rank(rank).input().slice(0, ranks));
}
