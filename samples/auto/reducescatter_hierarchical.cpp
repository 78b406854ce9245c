// ReduceScatter over nodes: each GPU first sums inside its node what it hands to its twins in the other nodes, so that
// of each share one partial sum from each other node crosses the network.
//
// When: several nodes whose GPUs have a NIC each; GPU g of a node talks over the network to GPU g of the others only.
//   mscclc reducescatter_hierarchical.cpp -P nodes=2 -P gpus=8 --message-size 1M -o plan.json
// -P inplace=false is for calls whose input is another buffer than the output.
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void reducescatter_hierarchical(int nodes = 2, int gpus = 4, bool inplace = true) {
  const int ranks = nodes * gpus;
  CollectiveProgram program(
      "reducescatter_hierarchical", ReduceScatter(ranks, 1, inplace),
      {.instances = automatic, .protocol = Protocol::Auto, .schedule = Schedule::Auto, .ranksPerNode = gpus});
  for (int owner = 0; owner < ranks; ++owner) {
    List<Chunk> partial; // of share `owner`, from the other nodes
    for (int step = 0; step < nodes; ++step) {
      const int node = (owner / gpus + step) % nodes, twin = node * gpus + owner % gpus;
      List<Chunk> neighbours;
      for (int other = 1; other < gpus; ++other)
        neighbours.push_back(Rank(node * gpus + (owner + other) % gpus).input()[owner]);
      Chunk own = Rank(twin).input()[owner];
      Chunk sum = inplace ? own : step > 0 ? Buffer(twin, 1)[0] : Rank(owner).output()[0];
      if (neighbours.empty())
        copy(sum, own);
      else
        reduce(sum, own, neighbours);
      if (step > 0)
        partial.push_back(sum);
    }
    if (!partial.empty())
      reduce(inplace ? Rank(owner).input()[owner] : Rank(owner).output()[0], partial);
  }
}
