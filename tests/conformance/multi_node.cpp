// The programs behind plans/multi_node: two nodes, memory channels inside them, port channels between.
#include <mscclc/dsl.hpp>
using namespace mscclc;

namespace {

/// A rank's place and channels: to its neighbours in ascending order, and to its twin on the other node.
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

/// Its plan overruns the executor as the Python DSL prints it: 14 chunks in one operation.
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
