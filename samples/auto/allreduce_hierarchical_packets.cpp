// AllReduce over nodes with LL packets: a reduce-scatter inside each node, an exchange of the sums between the nodes,
// and an all-gather inside each node. So data cross the network once, and no step waits for a signal.
//
// When: small messages on two nodes whose GPUs have a NIC each; with more nodes, the exchange is of plain data.
//   mscclc allreduce_hierarchical_packets.cpp -P nodes=2 -P gpus=8 --message-size 8K -o plan.json
#include <mscclc/dsl.hpp>
using namespace mscclc;

/// GPU g of each node reduces share g. `arrived` gets the sums of the other nodes before any node adds them, so that
/// each node sends what it has summed alone.
MSCCLC_ALGORITHM void allreduce_hierarchical_packets(int nodes = 2, int gpus = 4) {
  CollectiveProgram program(
      "allreduce_hierarchical_packets", AllReduce(nodes * gpus, 1, /*inplace=*/true),
      {.instances = automatic, .protocol = Protocol::LL, .schedule = Schedule::Auto, .ranksPerNode = gpus});
  const auto share = [&](int node, int gpu, int of) {
    return Rank(node * gpus + gpu).input().slice(of * nodes, (of + 1) * nodes);
  };
  for (int gpu = 0; gpu < gpus; ++gpu) {
    for (int node = 0; node < nodes; ++node) {
      List<Chunk> others;
      for (int step = 1; step < gpus; ++step)
        others.push_back(share(node, (gpu + step) % gpus, gpu));
      reduce(share(node, gpu, gpu), others);
    }
    List<Buffer> arrived; // at each node
    for (int node = 0; node < nodes; ++node) {
      arrived.push_back(Buffer(node * gpus + gpu, nodes * nodes));
      for (int other = 0; other < nodes; ++other)
        if (other != node)
          copy(arrived[node].slice(other * nodes, (other + 1) * nodes), share(other, gpu, gpu));
    }
    for (int node = 0; node < nodes; ++node) {
      const auto sumOf = [&](int other) {
        return other == node ? share(node, gpu, gpu) : arrived[node].slice(other * nodes, (other + 1) * nodes);
      };
      const int begin = nodes == 2 ? node : 0; // a + b is b + a; more sums are added in one order everywhere
      Chunk first = sumOf(begin);
      List<Chunk> others;
      for (int other = 0; other < nodes; ++other)
        if (other != begin)
          others.push_back(sumOf(other));
      reduce(share(node, gpu, gpu), first, others);
      for (int step = 1; step < gpus; ++step)
        copy(share(node, (gpu + step) % gpus, gpu), share(node, gpu, gpu));
    }
  }
}
