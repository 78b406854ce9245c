// AllReduce over nodes: a reduce-scatter inside each node, an all-reduce of each share between the nodes, and an
// all-gather inside each node.
//
// When: several nodes whose GPUs have a NIC each: of every GPU, 2(nodes-1)/nodes of a share cross the network.
//   mscclc allreduce_hierarchical.cpp -P nodes=2 -P gpus=8 --message-size 64M -o plan.json
// -P inplace=false is for calls whose input is another buffer than the output.
#include <mscclc/dsl.hpp>
using namespace mscclc;

/// GPU g of each node reduces share g, which has a chunk for each node; between nodes, node n completes chunk n of it.
MSCCLC_ALGORITHM void allreduce_hierarchical(int nodes = 2, int gpus = 4, bool inplace = true) {
  CollectiveProgram program(
      "allreduce_hierarchical", AllReduce(nodes * gpus, 1, inplace),
      {.instances = automatic, .protocol = Protocol::Auto, .schedule = Schedule::Auto, .ranksPerNode = gpus});
  const auto part = [&](int node, int gpu, int share, int index) {
    return Rank(node * gpus + gpu).input()[share * nodes + index];
  };
  const auto sum = [&](int node, int gpu, int share, int index) {
    const Rank rank(node * gpus + gpu);
    return (inplace ? rank.input() : rank.output())[share * nodes + index];
  };

  for (int gpu = 0; gpu < gpus; ++gpu)
    for (int index = 0; index < nodes; ++index) {
      for (int node = 0; node < nodes; ++node) {
        if (!inplace)
          copy(sum(node, gpu, gpu, index), part(node, gpu, gpu, index));
        for (int step = 1; step < gpus; ++step)
          reduce(sum(node, gpu, gpu, index), {part(node, (gpu + step) % gpus, gpu, index)});
      }
      for (int step = 1; step < nodes; ++step)
        reduce(sum(index, gpu, gpu, index), {sum((index + step) % nodes, gpu, gpu, index)});
      for (int node = 0; node < nodes; ++node) {
        copy(sum(node, gpu, gpu, index), sum(index, gpu, gpu, index));
        for (int step = 1; step < gpus; ++step)
          copy(sum(node, (gpu + step) % gpus, gpu, index), sum(node, gpu, gpu, index));
      }
    }
}
