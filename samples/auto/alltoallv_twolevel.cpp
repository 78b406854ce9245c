// AllToAllV over nodes, two levels: rows are gathered inside the node by the GPU that they go to, then each GPU sends
// the rows of its node to its twin in each other node.
//
// When: several nodes. Each GPU has one peer in each other node, instead of all GPUs there.
//   mscclc alltoallv_twolevel.cpp -P nodes=2 -P gpus=8 --emit-cuda -o alltoallv_twolevel.cu
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void alltoallv_twolevel(int nodes = 2, int gpus = 4) {
  CollectiveProgram program(
      "alltoallv_twolevel", AllToAllV(nodes * gpus, RowLayout::Packed),
      {.instances = automatic, .protocol = Protocol::Auto, .schedule = Schedule::Auto, .ranksPerNode = gpus});
  for (int node = 0; node < nodes; ++node)
    for (int gpu = 0; gpu < gpus; ++gpu) {
      const int sender = node * gpus + gpu; // sends all rows of its node that go to GPU `gpu` of any node
      Buffer gathered(sender, nodes * gpus);
      for (int to = 0; to < nodes; ++to) {
        const Rank receiver(to * gpus + gpu);
        for (int other = 0; other < gpus; ++other) {
          const int src = node * gpus + other;
          Chunk place = to == node ? receiver.output().from(src) : gathered[to * gpus + other];
          copy(place, Rank(src).input().to(receiver.id()));
        }
        if (to != node)
          copy(receiver.output().slice(node * gpus, (node + 1) * gpus), gathered.slice(to * gpus, (to + 1) * gpus));
      }
    }
}
