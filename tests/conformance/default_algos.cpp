// The programs behind plans/default_algos: hierarchical collectives by packets, over several nodes.
#include <mscclc/dsl.hpp>
using namespace mscclc;

namespace {

/// The options that all of these programs share. Every program says itself which blocks wait for which.
ProgramOptions options(int instances, int threads, unsigned long long smallest = 0,
                       unsigned long long largest = ~0ull) {
  return {.instances = instances,
          .protocol = Protocol::LL,
          .autoSync = false,
          .reuseResources = true,
          .threadsPerBlock = threads,
          .doubleScratch = true,
          .minMessageSize = smallest,
          .maxMessageSize = largest};
}

/// Returns the index of `other` among the numbers without `self`.
int index(int self, int other) {
  return other < self ? other : other - 1;
}

/// The position of a rank, and its channels to the other GPUs of its node and to the same GPU of the other nodes.
struct Position {
  int ranks, perNode, nodes, rank, gpu, node;
  List<MemoryChannel> inside;
  List<PortChannel> across;
  Position(int ranks, int perNode, int rank)
      : ranks(ranks), perNode(perNode), nodes(ranks / perNode), rank(rank), gpu(rank % perNode), node(rank / perNode) {
    for (int peer = 0; peer < perNode; ++peer)
      if (peer != gpu)
        inside.push_back(MemoryChannel(at(peer, node), rank));
    for (int other = 0; other < nodes; ++other)
      if (other != node)
        across.push_back(PortChannel(at(gpu, other), rank));
  }
  int at(int gpu, int node) const { return gpu + node * perNode; }
  /// Calls `body(peer GPU, its index)` for the other GPUs of the node.
  template <typename Body> void eachPeer(Body body) const {
    for (int peer = 0; peer < perNode; ++peer)
      if (peer != gpu)
        body(peer, index(gpu, peer));
  }
  /// Calls `body(node, its index)` for the other nodes.
  template <typename Body> void eachNode(Body body) const {
    for (int other = 0; other < nodes; ++other)
      if (other != node)
        body(other, index(node, other));
  }
};

List<Buffer> scratchOf(int ranks, int chunks) {
  List<Buffer> scratch;
  for (int rank = 0; rank < ranks; ++rank)
    scratch.push_back(Buffer(rank, chunks));
  return scratch;
}

/// `count` thread blocks from `first`.
List<int> blocks(int first, int count) {
  List<int> all;
  for (int i = 0; i < count; ++i)
    all.push_back(first + i);
  return all;
}

} // namespace

MSCCLC_ALGORITHM void allgather_multi_nodes(int ranks = 16, int gpusPerNode = 8, bool inPlace = false,
                                            int instances = 1, int threads = 1024) {
  const int nodes = ranks / gpusPerNode, peers = gpusPerNode - 1, others = nodes - 1;
  CollectiveProgram program("default_algos__allgather_multi_nodes", AllGather(ranks, 1, inPlace),
                            options(instances, threads, 1_KiB, 8_MiB));
  // Scratch: packets of the peers, of the other nodes, to the other nodes, and what peers pass on.
  const int fromNodes = peers, toNodes = fromNodes + others, passedOn = toNodes + others;
  auto scratch = scratchOf(ranks, passedOn + peers * others);
  // Blocks: a sender and a receiver for each peer, for each node, and for each of a node's chunks passed on.
  const int unpackPeer = peers, sendNode = 2 * peers, unpackNode = sendNode + others, passOn = unpackNode + others,
            unpackPassed = passOn + others * peers;
  for (int rank = 0; rank < ranks; ++rank) {
    Position place(ranks, gpusPerNode, rank);
    Rank self(rank);
    auto output = self.output();
    Chunk mine = inPlace ? output[rank] : self.input()[0];
    if (!inPlace)
      self.copy(output[rank], mine, tb(0));
    place.eachPeer([&](int peer, int i) {
      place.inside[i].putPackets(scratch[place.at(peer, place.node)][index(peer, place.gpu)], mine, tb(i));
    });
    place.eachPeer([&](int peer, int i) {
      self.unpackPackets(output[place.at(peer, place.node)], scratch[rank][i], tb(unpackPeer + i));
    });
    place.eachNode([&](int node, int i) {
      self.copyPackets(scratch[rank][toNodes + i], mine, tb(sendNode + i));
      place.across[i].readPutPackets(scratch[place.at(place.gpu, node)][fromNodes + index(node, place.node)],
                                     scratch[rank][toNodes + i], tb(sendNode + i));
    });
    place.eachNode([&](int node, int i) {
      self.unpackPackets(output[place.at(place.gpu, node)], scratch[rank][fromNodes + i], tb(unpackNode + i));
    });
    place.eachNode([&](int, int i) {
      place.eachPeer([&](int peer, int j) {
        place.inside[j].readPutPackets(
            scratch[place.at(peer, place.node)][passedOn + peers * i + index(peer, place.gpu)],
            scratch[rank][fromNodes + i], tb(passOn + peers * i + j));
      });
    });
    place.eachNode([&](int node, int i) {
      place.eachPeer([&](int peer, int j) {
        self.unpackPackets(output[place.at(peer, node)], scratch[rank][passedOn + peers * i + j],
                           tb(unpackPassed + peers * i + j));
      });
    });
  }
}

MSCCLC_ALGORITHM void allreduce_multi_nodes(int ranks = 16, int gpusPerNode = 8, int groupSize = 1,
                                            int threads = 1024) {
  const int nodes = ranks / gpusPerNode, peers = gpusPerNode - 1;
  CollectiveProgram program("default_algos__allreduce_multi_nodes", AllReduce(ranks, 1, true), options(1, threads));
  // Shares of `nodes` chunks. Scratch: the peers' packets, the nodes' packets, and the results of the peers.
  const int fromNodes = ranks, results = fromNodes + nodes * nodes;
  auto scratch = scratchOf(ranks, results + ranks);
  const auto share = [&](auto buffer, int first) { return buffer.slice(first, first + nodes); };
  // Block 0 serves the ports; then a group of blocks for each peer.
  ThreadBlockGroup everyPeer(blocks(1, peers * groupSize));
  List<ThreadBlockGroup> groups;
  for (int i = 0; i < peers; ++i)
    groups.push_back(ThreadBlockGroup(blocks(1 + i * groupSize, groupSize)));
  for (int rank = 0; rank < ranks; ++rank) {
    Position place(ranks, gpusPerNode, rank);
    Rank self(rank);
    auto data = self.input();
    Chunk mine = share(data, place.gpu * nodes);
    place.eachPeer([&](int peer, int i) {
      place.inside[i].putPackets(share(scratch[place.at(peer, place.node)], place.gpu * nodes),
                                 share(data, peer * nodes), groups[i]);
    });
    List<Chunk> ofPeers, ofNodes;
    place.eachPeer([&](int peer, int) { ofPeers.push_back(share(scratch[rank], peer * nodes)); });
    place.eachNode([&](int node, int) { ofNodes.push_back(share(scratch[rank], fromNodes + node * nodes)); });
    self.reduce(mine, ofPeers, everyPeer, {.packet = true});
    self.copyPackets(share(scratch[rank], place.gpu * nodes), mine, everyPeer);
    self.barrier(blocks(0, 1 + peers * groupSize));
    place.eachNode([&](int node, int i) {
      place.across[i].putPackets(share(scratch[place.at(place.gpu, node)], fromNodes + place.node * nodes),
                                 share(scratch[rank], place.gpu * nodes), tb(0));
    });
    Chunk result = share(scratch[rank], fromNodes + place.node * nodes);
    self.reduce(mine, ofNodes, everyPeer, {.packet = true});
    self.copyPackets(result, mine, everyPeer);
    place.eachPeer([&](int peer, int i) {
      place.inside[i].readPutPackets(share(scratch[place.at(peer, place.node)], results + place.gpu * nodes), result,
                                     groups[i]);
    });
    place.eachPeer([&](int peer, int i) {
      self.unpackPackets(share(data, peer * nodes), share(scratch[rank], results + peer * nodes), groups[i]);
    });
  }
}

MSCCLC_ALGORITHM void reducescatter_multi_nodes(int ranks = 16, int gpusPerNode = 8, int groupSize = 1,
                                                int instances = 1, int threads = 1024) {
  const int nodes = ranks / gpusPerNode, peers = gpusPerNode - 1;
  CollectiveProgram program("default_algos__reducescatter_multi_nodes", ReduceScatter(ranks, 1, true),
                            options(instances, threads));
  // Scratch: the peers' packets for each node, what goes to the nodes, and what comes from them.
  const int toNodes = peers * nodes, fromNodes = toNodes + nodes;
  auto scratch = scratchOf(ranks, fromNodes + nodes - 1);
  // A group of blocks for each peer, then for each node.
  List<ThreadBlockGroup> groups;
  for (int i = 0; i < peers + nodes; ++i)
    groups.push_back(ThreadBlockGroup(blocks(i * groupSize, groupSize)));
  ThreadBlockGroup every(blocks(0, (peers + nodes) * groupSize));
  for (int rank = 0; rank < ranks; ++rank) {
    Position place(ranks, gpusPerNode, rank);
    Rank self(rank);
    auto data = self.input();
    place.eachPeer([&](int peer, int i) {
      for (int node = 0; node < nodes; ++node)
        place.inside[i].putPackets(scratch[place.at(peer, place.node)][index(peer, place.gpu) * nodes + node],
                                   data[place.at(peer, node)], tb(i * groupSize + node % groupSize));
    });
    for (int node = 0; node < nodes; ++node) {
      Chunk partial = data[place.at(place.gpu, node)], packet = scratch[rank][toNodes + node];
      ThreadBlockGroup &group = groups[peers + node];
      List<Chunk> ofPeers;
      place.eachPeer([&](int, int i) { ofPeers.push_back(scratch[rank][i * nodes + node]); });
      if (!ofPeers.empty())
        self.reduce(partial, ofPeers, group, {.packet = true});
      if (nodes == 1)
        continue;
      self.copyPackets(packet, partial, group);
      if (node != place.node)
        place.across[index(place.node, node)].readPutPackets(
            scratch[place.at(place.gpu, node)][fromNodes + index(node, place.node)], packet, group);
    }
    if (nodes == 1)
      continue;
    List<Chunk> ofNodes;
    place.eachNode([&](int, int i) { ofNodes.push_back(scratch[rank][fromNodes + i]); });
    self.unpackPackets(data[rank], scratch[rank][toNodes + place.node], every);
    self.reduce(data[rank], ofNodes, every, {.packet = true});
  }
}
