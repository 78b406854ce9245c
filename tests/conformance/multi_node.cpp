// The programs behind plans/multi_node: two nodes, memory channels inside them, port channels between.
#include <mscclc/dsl.hpp>
using namespace mscclc;

namespace {

/// A rank's position and channels: to its neighbours in ascending order, and to its twin on the other node.
struct Node {
  int rank, perNode, gpu, first, twin;
  List<MemoryChannel> channels;
  PortChannel port;
  Node(int rank, int perNode)
      : rank(rank), perNode(perNode), gpu(rank % perNode), first(rank - gpu), twin((rank + perNode) % (2 * perNode)) {
    for (int peer = first; peer < first + perNode; ++peer)
      if (peer != rank)
        channels.push_back(MemoryChannel(peer, rank));
    port = PortChannel(twin, rank);
  }
  template <typename Body> void each(Body body) {
    for (int i = 0; i < perNode - 1; ++i)
      body(first + (i < gpu ? i : i + 1), channels[i]);
  }
  void handshake() {
    each([](int, MemoryChannel &c) { c.signal(tb(0), {.relaxed = true}); });
    each([](int, MemoryChannel &c) { c.wait(tb(0), {.sync = Sync::After, .relaxed = true}); });
  }
};

} // namespace

MSCCLC_ALGORITHM void allgather(int gpusPerNode = 8) {
  const int ranks = 2 * gpusPerNode;
  CollectiveProgram program("multi_node__allgather", AllGather(ranks, 1, true));
  for (int rank = 0; rank < ranks; ++rank) {
    Node node(rank, gpusPerNode);
    auto data = Rank(rank).output();
    node.handshake();
    node.each([&](int peer, MemoryChannel &c) { c.put(Rank(peer).output()[rank], data[rank], tb(0)); });
    node.port.signal(tb(0));
    node.port.wait(tb(0), {.sync = Sync::After});
    node.port.putWithSignalAndFlush(Rank(node.twin).output()[rank], data[rank], tb(0));
    node.port.wait(tb(0), {.sync = Sync::After});
    node.each([&](int peer, MemoryChannel &c) { c.put(Rank(peer).output()[node.twin], data[node.twin], tb(0)); });
    node.each([](int, MemoryChannel &c) { c.signal(tb(0), {.sync = Sync::Before}); });
    node.each([](int, MemoryChannel &c) { c.wait(tb(0)); });
  }
}

MSCCLC_ALGORITHM void allgather_pkt(int gpusPerNode = 8) {
  const int ranks = 2 * gpusPerNode;
  CollectiveProgram program("multi_node__allgather_pkt", AllGather(ranks, 1, true),
                            {.protocol = Protocol::LL, .doubleScratch = true});
  List<Buffer> scratch;
  for (int rank = 0; rank < ranks; ++rank)
    scratch.push_back(Buffer(rank, ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    const int gpu = rank % gpusPerNode, first = rank - gpu, twin = (rank + gpusPerNode) % ranks;
    auto data = Rank(rank).output();
    // Passes the packet in `slot` on to the same slot of every peer in the node, each over a channel of its own.
    const auto spread = [&](int slot) {
      for (int peer = 0; peer < gpusPerNode; ++peer)
        if (peer != gpu)
          MemoryChannel(first + peer, rank).readPutPackets(scratch[first + peer][slot], scratch[rank][slot], tb(peer));
    };
    Rank(rank).copyPackets(scratch[rank][rank], data[rank], tb(rank));
    spread(rank);
    PortChannel(twin, rank).readPutPackets(scratch[twin][rank], scratch[rank][rank], tb(gpu));
    spread(twin);
    for (int step = 1; step < ranks; ++step) {
      const int peer = (rank + step) % ranks;
      Rank(rank).unpackPackets(data[peer], scratch[rank][peer], tb(step));
    }
  }
}

/// The Python program's command line takes its --gpus_per_node for the size of the groups, and the reverse.
MSCCLC_ALGORITHM void allgather_tbg(int ranks = 16, int gpusPerNode = 8, int groupSize = 2) {
  const int nodes = ranks / gpusPerNode, last = gpusPerNode - 1;
  CollectiveProgram program("multi_node__allgather_tbg", AllGather(ranks, 1, false));
  List<Buffer> scratch;
  for (int rank = 0; rank < ranks; ++rank)
    scratch.push_back(Buffer(rank, ranks));
  // Block 0 serves the port channels; then a group for each peer in the node, and one for the local copy.
  List<ThreadBlockGroup> groups;
  List<int> allBlocks = {0};
  for (int group = 0; group < gpusPerNode; ++group) {
    List<int> blocks;
    for (int i = 0; i < groupSize; ++i) {
      blocks.push_back(1 + group * groupSize + i);
      allBlocks.push_back(blocks[i]);
    }
    groups.push_back(ThreadBlockGroup(blocks));
  }
  for (int rank = 0; rank < ranks; ++rank) {
    const int gpu = rank % gpusPerNode, node = rank / gpusPerNode;
    const int next = (rank + gpusPerNode) % ranks, previous = (rank + ranks - gpusPerNode) % ranks;
    Rank self(rank);
    List<List<MemoryChannel>> channels; // of a peer, one for each block of its group
    const auto each = [&](auto body) {
      for (int peer = 0, index = 0; peer < gpusPerNode; ++peer)
        if (peer != gpu)
          body(peer, index++);
    };
    each([&](int peer, int) {
      List<MemoryChannel> ofPeer;
      for (int i = 0; i < groupSize; ++i)
        ofPeer.push_back(MemoryChannel(node * gpusPerNode + peer, rank));
      channels.push_back(ofPeer);
    });
    PortChannel toNext(next, rank), toPrevious = nodes != 2 ? PortChannel(previous, rank) : toNext;
    const auto block = [&](int group, int i) { return tb(1 + group * groupSize + i); };

    each([&](int, int group) {
      for (int i = 0; i < groupSize; ++i)
        channels[group][i].signal(block(group, i), {.sync = Sync::None, .relaxed = true});
    });
    each([&](int, int group) {
      for (int i = 0; i < groupSize; ++i)
        channels[group][i].wait(block(group, i), {.sync = Sync::After, .relaxed = true});
    });
    toPrevious.signal(tb(0), {.sync = Sync::None});
    toNext.wait(tb(0), {.sync = Sync::After});

    for (int step = 0; step < nodes; ++step) {
      // The share of GPU `of` in the node whose data is here at this step.
      const auto share = [&](int of) { return (of + gpusPerNode * (node - step + nodes)) % ranks; };
      const int index = share(gpu);
      Chunk mine = step == 0 ? self.input()[0] : scratch[rank][index];
      if (step != 0) {
        toPrevious.wait(tb(0));
        self.barrier(allBlocks);
      }
      if (step != nodes - 1)
        toNext.putWithSignalAndFlush(scratch[next][index], mine, tb(0));
      each([&](int peer, int group) {
        channels[group][0].put(scratch[node * gpusPerNode + peer][index], mine, groups[group]);
        for (int i = 0; i < groupSize; ++i) {
          channels[group][i].signal(block(group, i), {.sync = Sync::Before});
          channels[group][i].wait(block(group, i), {.sync = Sync::After});
        }
        self.copy(self.output()[share(peer)], scratch[rank][share(peer)], groups[group]);
      });
      self.copy(self.output()[index], mine, groups[last]);
    }
  }
}

MSCCLC_ALGORITHM void reducescatter(int gpusPerNode = 8) {
  const int ranks = 2 * gpusPerNode;
  CollectiveProgram program("multi_node__reducescatter", ReduceScatter(ranks, 1, true));
  List<Buffer> scratch;
  for (int rank = 0; rank < ranks; ++rank)
    scratch.push_back(Buffer(rank, 1));
  for (int rank = 0; rank < ranks; ++rank) {
    Node node(rank, gpusPerNode);
    auto data = Rank(rank).input();
    node.handshake();
    for (int share : {rank, node.twin})
      node.each([&](int peer, MemoryChannel &c) { c.reduce(data[share], {Rank(peer).input()[share]}, tb(0)); });
    node.port.signal(tb(0));
    node.port.wait(tb(0), {.sync = Sync::After});
    node.port.putWithSignal(scratch[node.twin][0], data[node.twin], tb(0));
    node.port.wait(tb(0), {.sync = Sync::After});
    Rank(rank).reduce(data[rank], {scratch[rank][0]}, tb(0));
    node.each([](int, MemoryChannel &c) { c.signal(tb(0), {.sync = Sync::Before, .relaxed = true}); });
    node.each([](int, MemoryChannel &c) { c.wait(tb(0), {.relaxed = true}); });
  }
}

MSCCLC_ALGORITHM void reducescatter_pkt(int gpusPerNode = 8) {
  const int ranks = 2 * gpusPerNode;
  CollectiveProgram program("multi_node__reducescatter_pkt", ReduceScatter(ranks, 1, true),
                            {.protocol = Protocol::LL, .doubleScratch = true});
  List<Buffer> scratch;
  for (int rank = 0; rank < ranks; ++rank)
    scratch.push_back(Buffer(rank, ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    Node node(rank, gpusPerNode);
    auto data = Rank(rank).input();
    node.each([&](int peer, MemoryChannel &c) {
      const int gpu = peer % gpusPerNode, other = (peer + gpusPerNode) % ranks;
      c.putPackets(scratch[peer][node.gpu], data[peer], tb(0));
      c.putPackets(scratch[peer][gpusPerNode + (node.gpu < gpu ? node.gpu : node.gpu - 1)], data[other], tb(0));
    });
    List<Chunk> forTwin, forMe;
    for (int i = 0; i + 1 < gpusPerNode; ++i)
      forTwin.push_back(scratch[rank][gpusPerNode + i]);
    if (!forTwin.empty())
      Rank(rank).reduce(data[node.twin], forTwin, tb(0), {.packet = true});
    Rank(rank).copyPackets(scratch[rank][node.gpu], data[node.twin], tb(0));
    node.port.readPutPackets(scratch[node.twin][ranks - 1], scratch[rank][node.gpu], tb(0));
    forMe.push_back(scratch[rank][ranks - 1]);
    node.each([&](int peer, MemoryChannel &) { forMe.push_back(scratch[rank][peer % gpusPerNode]); });
    Rank(rank).reduce(data[rank], forMe, tb(0), {.packet = true});
  }
}

MSCCLC_ALGORITHM void send_recv(int nodes = 1, int gpusPerNode = 8, int splitMask = 0, int instances = 4) {
  const int ranks = nodes * gpusPerNode, group = splitMask + 1, groups = ranks / group;
  CollectiveProgram program("multi_node__send_recv", SendRecv(ranks, 1, false), {.instances = instances});
  for (int rank = 0; rank < ranks; ++rank) {
    const int place = rank % group, mine = rank / group;
    const int next = (mine + 1) % groups * group + place, previous = (mine + groups - 1) % groups * group + place;
    // Two ranks that are each other's next: the order of construction pairs next with previous.
    const bool swapped = previous == next && rank > previous;
    PortChannel first(swapped ? previous : next, rank), second(swapped ? next : previous, rank);
    PortChannel toNext = swapped ? second : first, toPrevious = swapped ? first : second;
    toPrevious.signal(tb(0), {.sync = Sync::None});
    toNext.wait(tb(0), {.sync = Sync::After});
    toNext.putWithSignal(Rank(next).output().slice(0), Rank(rank).input().slice(0), tb(0));
    toPrevious.wait(tb(0), {.sync = Sync::None});
  }
}
