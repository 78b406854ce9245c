// AllToAll over nodes, two levels: chunks are gathered inside the node by the GPU that they go to, then each GPU sends
// one long piece to its twin in each other node.
//
// When: several nodes, where many small messages over the network would take longer than fewer large ones.
//   mscclc alltoall_hierarchical.cpp -P nodes=2 -P gpus=8 --message-size 1M -o plan.json
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void alltoall_hierarchical(int nodes = 2, int gpus = 4) {
  CollectiveProgram program(
      "alltoall_hierarchical", AllToAll(nodes * gpus, 1, /*inplace=*/false),
      {.instances = automatic, .protocol = Protocol::Auto, .schedule = Schedule::Auto, .ranksPerNode = gpus});
  for (int node = 0; node < nodes; ++node)
    for (int gpu = 0; gpu < gpus; ++gpu) {
      const int sender = node * gpus + gpu; // sends all chunks of its node that go to GPU `gpu` of any node
      Buffer gathered(sender, nodes * gpus);
      for (int to = 0; to < nodes; ++to) {
        const Rank receiver(to * gpus + gpu);
        for (int other = 0; other < gpus; ++other) {
          Chunk place = to == node ? receiver.output()[node * gpus + other] : gathered[to * gpus + other];
          copy(place, Rank(node * gpus + other).input()[receiver.id()]);
        }
        if (to != node)
          copy(receiver.output().slice(node * gpus, (node + 1) * gpus), gathered.slice(to * gpus, (to + 1) * gpus));
      }
    }
}
