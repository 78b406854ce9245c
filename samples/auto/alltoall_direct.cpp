// AllToAll over nodes, direct: every GPU sends each chunk straight to the GPU that it is for.
//
// When: several nodes and small messages, where a second hop would take longer than many small messages.
//   mscclc alltoall_direct.cpp -P nodes=2 -P gpus=8 --message-size 64K -o plan.json
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void alltoall_direct(int nodes = 2, int gpus = 4) {
  const int ranks = nodes * gpus;
  CollectiveProgram program(
      "alltoall_direct", AllToAll(ranks, 1, /*inplace=*/false),
      {.instances = automatic, .protocol = Protocol::Auto, .schedule = Schedule::Auto, .ranksPerNode = gpus});
  for (int src = 0; src < ranks; ++src)
    for (int dst = 0; dst < ranks; ++dst)
      copy(Rank(dst).output()[src], Rank(src).input()[dst]);
}
