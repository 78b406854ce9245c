// The way back from the experts of a mixture of experts over nodes, two levels: results are gathered inside the node by
// the GPU in the place of their row's GPU, which sends those of its node to its twin in each other node. Each row
// becomes the sum of what its experts made of it, each multiplied by a weight, in the order of the index.
//
// When: experts are spread over several nodes, behind a Dispatch with the same index. The parameter `ready`
// is that of moe_combine.cpp.
//   mscclc moe_combine_twolevel.cpp -P nodes=2 -P gpus=8 -P experts=32 --emit-cuda -o moe_combine_twolevel.cu
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void moe_combine_twolevel(int nodes = 2, int gpus = 4, int experts = 4, // of each GPU
                                           ExpertLayout layout = ExpertLayout::ExpertMajor,
                                           int ready = 0) { // rows of a block that has a word; 0: none has
  CollectiveProgram program("moe_combine_twolevel", Combine(nodes * gpus, experts, layout),
                            {.instances = automatic,
                             .protocol = Protocol::Auto,
                             .schedule = Schedule::Auto,
                             .ranksPerNode = gpus,
                             .readyRows = ready});
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
