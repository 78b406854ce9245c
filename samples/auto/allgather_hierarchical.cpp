// AllGather over nodes: every chunk crosses the network once for each other node, then spreads inside it.
//
// When: several nodes whose GPUs have a NIC each; GPU g of a node talks over the network to GPU g of the others only.
//   mscclc allgather_hierarchical.cpp -P nodes=2 -P gpus=8 --message-size 1M -o plan.json
// -P inplace=false is for calls whose input is another buffer than the output.
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void allgather_hierarchical(int nodes = 2, int gpus = 4, bool inplace = true) {
  const int ranks = nodes * gpus;
  CollectiveProgram program(
      "allgather_hierarchical", AllGather(ranks, 1, inplace),
      {.instances = automatic, .protocol = Protocol::Auto, .schedule = Schedule::Auto, .ranksPerNode = gpus});
  for (int rank = 0; rank < ranks; ++rank) {
    const Chunk own = inplace ? Rank(rank).output()[rank] : Rank(rank).input()[0];
    for (int node = 0; node < nodes; ++node) {
      const int twin = node * gpus + rank % gpus; // the GPU of that node that `rank` talks to
      copy(Rank(twin).output()[rank], own);
      for (int gpu = 0; gpu < gpus; ++gpu)
        copy(Rank(node * gpus + gpu).output()[rank], Rank(twin).output()[rank]);
    }
  }
}
