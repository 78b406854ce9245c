// AllGather over two nodes: NVLink inside a node, the network (port channels) between them.
//
// When: two nodes whose GPUs have a NIC each; GPU g of a node talks over the network to GPU g of the other only.
//   mscclc allgather_hierarchical.cpp -P gpusPerNode=8 -o plan.json
#include <mscclc/dsl.hpp>
using namespace mscclc;

/// Every GPU sends its chunk to its twin on the other node and to its neighbours, and then passes on the twin's chunk.
/// Block 0 distributes the chunks of its own node, block 1 those of the other node.
MSCCLC_ALGORITHM void allgather_hierarchical(int gpusPerNode = 4, int chunkFactor = 1) {
  const int ranks = 2 * gpusPerNode;
  CollectiveProgram program("allgather_hierarchical", AllGather(ranks, chunkFactor, /*inplace=*/true));
  const auto local = tb(0), network = tb(1);
  const auto share = [&](int rank, int of) {
    return Rank(rank).output().slice(of * chunkFactor, (of + 1) * chunkFactor);
  };

  for (int rank = 0; rank < ranks; ++rank) {
    const int node = rank / gpusPerNode, gpu = rank % gpusPerNode;
    const int twin = (1 - node) * gpusPerNode + gpu;
    const auto neighbour = [&](int step) { return node * gpusPerNode + (gpu + step) % gpusPerNode; };
    PortChannel port(twin, rank);
    List<MemoryChannel> own, passed; // to the neighbours, for the two kinds of chunks
    for (int step = 1; step < gpusPerNode; ++step) {
      own.push_back(MemoryChannel(neighbour(step), rank));
      passed.push_back(MemoryChannel(neighbour(step), rank));
    }

    // The twin has started this launch, and so have the neighbours (block by block).
    port.signal(network, {.sync = Sync::None});
    port.wait(network, {.sync = Sync::After});
    port.putWithSignalAndFlush(share(twin, rank), share(rank, rank), network);

    for (MemoryChannel &channel : own)
      channel.signal(local, {.sync = Sync::None, .relaxed = true});
    for (MemoryChannel &channel : own)
      channel.wait(local, {.sync = Sync::After, .relaxed = true});
    for (int step = 1; step < gpusPerNode; ++step)
      own[step - 1].put(share(neighbour(step), rank), share(rank, rank), local);
    for (MemoryChannel &channel : own)
      channel.signal(local, {.sync = Sync::Before});
    for (MemoryChannel &channel : own)
      channel.wait(local, {.sync = Sync::After});

    for (MemoryChannel &channel : passed)
      channel.signal(network, {.sync = Sync::None, .relaxed = true});
    port.wait(network, {.sync = Sync::None});
    for (MemoryChannel &channel : passed)
      channel.wait(network, {.sync = Sync::After, .relaxed = true});
    for (int step = 1; step < gpusPerNode; ++step)
      passed[step - 1].put(share(neighbour(step), twin), share(rank, twin), network);
    for (MemoryChannel &channel : passed)
      channel.signal(network, {.sync = Sync::Before});
    for (MemoryChannel &channel : passed)
      channel.wait(network, {.sync = Sync::After});
  }
}
