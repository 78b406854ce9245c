// The programs behind plans/single_node: collectives inside one NVLink domain.
#include <mscclc/dsl.hpp>
using namespace mscclc;

namespace {

/// Channels of one rank to every peer in ascending order; `block(peer)` numbers the peers without the rank itself.
struct Peers {
  int rank, ranks;
  List<MemoryChannel> channels;
  Peers(int rank, int ranks) : rank(rank), ranks(ranks) {
    for (int peer = 0; peer < ranks; ++peer)
      if (peer != rank)
        channels.push_back(MemoryChannel(peer, rank));
  }
  int index(int peer) const { return peer < rank ? peer : peer - 1; }
  template <typename Body> void each(Body body) {
    for (int peer = 0; peer < ranks; ++peer)
      if (peer != rank)
        body(peer, channels[index(peer)]);
  }
};

/// The ranks 0 to `ranks` - 1.
List<int> upTo(int ranks) {
  List<int> all;
  for (int rank = 0; rank < ranks; ++rank)
    all.push_back(rank);
  return all;
}

} // namespace

MSCCLC_ALGORITHM void allgather() {
  CollectiveProgram program("single_node__allgather", AllGather(2, 1, true));
  for (int src = 0; src < 2; ++src) {
    const int dst = 1 - src;
    MemoryChannel channel(dst, src);
    channel.signal(tb(0), {.relaxed = true});
    channel.wait(tb(0), {.sync = Sync::After, .relaxed = true});
    channel.put(Rank(dst).output()[src], Rank(src).output()[src], tb(0));
    channel.signal(tb(0), {.sync = Sync::Before});
    channel.wait(tb(0), {.sync = Sync::After});
  }
}

MSCCLC_ALGORITHM void allgather_tbg() {
  CollectiveProgram program("single_node__allgather_tbg", AllGather(2, 1, true));
  for (int src = 0; src < 2; ++src) {
    const int dst = 1 - src;
    MemoryChannel channel(dst, src);
    channel.signal(tb(0), {.relaxed = true});
    channel.wait(tb(0), {.sync = Sync::After, .relaxed = true});
    Rank(src).barrier({0, 1, 2, 3});
    channel.put(Rank(dst).output()[src], Rank(src).output()[src], ThreadBlockGroup({0, 1, 2, 3}));
    Rank(src).barrier({0, 1, 2, 3});
    channel.signal(tb(0), {.sync = Sync::Before});
    channel.wait(tb(0), {.sync = Sync::After});
  }
}

MSCCLC_ALGORITHM void allgather_pkt_rppkt(int ranks = 8) {
  CollectiveProgram program("single_node__allgather_pkt_rppkt", AllGather(ranks, 1, true),
                            {.protocol = Protocol::LL, .doubleScratch = true});
  List<Buffer> scratch;
  for (int rank = 0; rank < ranks; ++rank)
    scratch.push_back(Buffer(rank, 2 * ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    Rank(rank).copyPackets(scratch[rank][ranks + rank], Rank(rank).input()[0], tb(0));
    for (int step = 1; step < ranks; ++step) {
      const int peer = (rank + step) % ranks;
      MemoryChannel(peer, rank).readPutPackets(scratch[peer][rank], scratch[rank][ranks + rank], tb(0));
    }
    for (int step = 1; step < ranks; ++step) {
      const int peer = (rank + step) % ranks;
      Rank(rank).unpackPackets(Rank(rank).output()[peer], scratch[rank][peer], tb(0));
    }
  }
}

MSCCLC_ALGORITHM void allgather_pkt(int ranks = 8) {
  CollectiveProgram program("single_node__allgather_pkt", AllGather(ranks, 1, true),
                            {.protocol = Protocol::LL, .doubleScratch = true});
  List<Buffer> scratch;
  for (int rank = 0; rank < ranks; ++rank)
    scratch.push_back(Buffer(rank, ranks));
  for (int rank = 0; rank < ranks; ++rank)
    for (int step = 1; step < ranks; ++step) {
      const int peer = (rank + step) % ranks;
      MemoryChannel(peer, rank).putPackets(scratch[peer][rank], Rank(rank).output()[rank], tb(step - 1));
    }
  for (int rank = 0; rank < ranks; ++rank)
    for (int step = 1; step < ranks; ++step) {
      const int peer = (rank + step) % ranks;
      Rank(rank).unpackPackets(Rank(rank).output()[peer], scratch[rank][peer], tb(ranks + step - 2));
    }
}

/// `relaxed`: the last signals are relaxed, as in the DSL; then the program is not proven.
MSCCLC_ALGORITHM void allgather_ring(int ranks = 8, int instances = 32, bool relaxed = true) {
  CollectiveProgram program("single_node__allgather_ring", AllGather(ranks, 1, true), {.instances = instances});
  for (int rank = 0; rank < ranks; ++rank) {
    Peers peers(rank, ranks);
    Chunk mine = Rank(rank).output()[rank];
    peers.each([&](int, MemoryChannel &c) { c.signal(tb(0), {.relaxed = true}); });
    peers.each([&](int, MemoryChannel &c) { c.wait(tb(0), {.sync = Sync::After, .relaxed = true}); });
    for (int step = 1; step < ranks; ++step) {
      const int peer = (rank + step) % ranks;
      peers.channels[peers.index(peer)].put(Rank(peer).output()[rank], mine, tb(0));
    }
    peers.each([&](int, MemoryChannel &c) { c.signal(tb(0), {.relaxed = relaxed}); });
    peers.each([&](int, MemoryChannel &c) { c.wait(tb(0), {.relaxed = relaxed}); });
  }
}

/// `relaxed`: as above.
MSCCLC_ALGORITHM void allgather_nvls_zero_copy(int ranks = 8, int instances = 8, int threads = 256,
                                               bool relaxed = true) {
  CollectiveProgram program("single_node__allgather_nvls_zero_copy", AllGather(ranks, 1, true),
                            {.instances = instances, .threadsPerBlock = threads});
  SwitchChannel nvls(upTo(ranks), BufferType::Output);
  for (int rank = 0; rank < ranks; ++rank) {
    Peers peers(rank, ranks);
    peers.each([&](int, MemoryChannel &c) { c.signal(tb(0), {.relaxed = true}); });
    peers.each([&](int, MemoryChannel &c) { c.wait(tb(0), {.sync = Sync::After, .relaxed = true}); });
    nvls.atRank(rank).broadcast(Rank(rank).output()[rank], rank, 1, tb(0));
    peers.each([&](int, MemoryChannel &c) { c.signal(tb(0), {.sync = Sync::Before, .relaxed = relaxed}); });
    peers.each([&](int, MemoryChannel &c) { c.wait(tb(0), {.relaxed = relaxed}); });
  }
}

MSCCLC_ALGORITHM void allgather_nvls_zero_copy_pkt(int ranks = 8, int instances = 1) {
  CollectiveProgram program("single_node__allgather_nvls_zero_copy_pkt", AllGather(ranks, 1, true),
                            {.instances = instances,
                             .protocol = Protocol::LL,
                             .autoSync = false,
                             .threadsPerBlock = 256,
                             .doubleScratch = true,
                             .minMessageSize = 1_KiB,
                             .maxMessageSize = 1_MiB});
  List<Buffer> scratch;
  for (int rank = 0; rank < ranks; ++rank)
    scratch.push_back(Buffer(rank, ranks));
  SwitchChannel nvls(upTo(ranks), BufferType::Scratch);
  for (int rank = 0; rank < ranks; ++rank) {
    auto data = Rank(rank).output();
    Rank(rank).copyPackets(scratch[rank][rank], data[rank], tb(0));
    nvls.atRank(rank).broadcastPackets(scratch[rank][rank], rank, 1, tb(0));
    for (int peer = 0; peer < ranks; ++peer)
      Rank(rank).unpackPackets(data[peer], scratch[rank][peer], tb(peer));
  }
}

MSCCLC_ALGORITHM void allreduce(int ranks = 8, int blocks = 8) {
  CollectiveProgram program("single_node__allreduce", AllReduce(ranks, blocks, true));
  for (int rank = 0; rank < ranks; ++rank) {
    List<Peers> peersOf; // a set of channels for each block
    for (int block = 0; block < blocks; ++block)
      peersOf.push_back(Peers(rank, ranks));
    for (int block = 0; block < blocks; ++block) {
      Peers &peers = peersOf[block];
      const int index = rank * blocks + block;
      Chunk share = Rank(rank).input()[index];
      peers.each([&](int, MemoryChannel &c) { c.signal(tb(block), {.relaxed = true}); });
      peers.each([&](int, MemoryChannel &c) { c.wait(tb(block), {.sync = Sync::After, .relaxed = true}); });
      peers.each([&](int peer, MemoryChannel &c) { c.reduce(share, {Rank(peer).input()[index]}, tb(block)); });
      peers.each([&](int peer, MemoryChannel &c) { c.put(Rank(peer).input()[index], share, tb(block)); });
      peers.each([&](int, MemoryChannel &c) { c.signal(tb(block), {.sync = Sync::Before}); });
      peers.each([&](int, MemoryChannel &c) { c.wait(tb(block)); });
    }
  }
}

MSCCLC_ALGORITHM void allreduce_naivy(int ranks = 8) {
  CollectiveProgram program("single_node__allreduce_naivy", AllReduce(ranks, 1, true), {.protocol = Protocol::LL});
  List<Buffer> scratch;
  for (int rank = 0; rank < ranks; ++rank)
    scratch.push_back(Buffer(rank, 2 * ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    Peers peers(rank, ranks);
    auto data = Rank(rank).input();
    peers.each([&](int peer, MemoryChannel &c) { c.putPackets(scratch[peer][rank], data[peer], tb(0)); });
    List<Chunk> arrived;
    peers.each([&](int peer, MemoryChannel &) { arrived.push_back(scratch[rank][peer]); });
    Rank(rank).reduce(data[rank], arrived, tb(0), {.packet = true});
    peers.each([&](int peer, MemoryChannel &c) { c.putPackets(scratch[peer][ranks + rank], data[rank], tb(0)); });
    peers.each(
        [&](int peer, MemoryChannel &) { Rank(rank).unpackPackets(data[peer], scratch[rank][ranks + peer], tb(0)); });
  }
}

/// `relaxed`: as above.
MSCCLC_ALGORITHM void allreduce_nvls_zero_copy(int ranks = 8, bool relaxed = true) {
  CollectiveProgram program("single_node__allreduce_nvls_zero_copy", AllReduce(ranks, 1, true), {.instances = 8});
  SwitchChannel nvls(upTo(ranks), BufferType::Input);
  for (int rank = 0; rank < ranks; ++rank) {
    Peers peers(rank, ranks);
    peers.each([&](int, MemoryChannel &c) { c.signal(tb(0), {.relaxed = true}); });
    peers.each([&](int, MemoryChannel &c) { c.wait(tb(0), {.sync = Sync::After, .relaxed = true}); });
    nvls.atRank(rank).reduce(rank, 1, Rank(rank).input()[rank], tb(0));
    nvls.atRank(rank).broadcast(Rank(rank).input()[rank], rank, 1, tb(0));
    peers.each([&](int, MemoryChannel &c) { c.signal(tb(0), {.sync = Sync::Before, .relaxed = relaxed}); });
    peers.each([&](int, MemoryChannel &c) { c.wait(tb(0), {.relaxed = relaxed}); });
  }
}

MSCCLC_ALGORITHM void allreduce_pipeline() {
  const int ranks = 2;
  CollectiveProgram program("single_node__allreduce_pipeline", AllReduce(ranks, 1, true), {.reuseResources = true});
  SwitchChannel nvls({0, 1}, BufferType::Scratch);
  Buffer scratch[] = {Buffer(0, ranks), Buffer(1, ranks)};
  for (int rank = 0; rank < ranks; ++rank) {
    MemoryChannel copied(1 - rank, rank), reduced(1 - rank, rank);
    Semaphore ready(rank, 0), done(rank, 0);
    PipelineLoop loop(1_MiB, 1);
    for (int i = 0; i < ranks; ++i)
      Rank(rank).copy(scratch[rank][i], Rank(rank).input()[i], tb(0));
    copied.signal(tb(0), {.sync = Sync::Before});
    copied.wait(tb(0), {.sync = Sync::After});
    ready.release(tb(0));
    ready.acquire(tb(1), Sync::After);
    nvls.atRank(rank).reduce(rank, 1, scratch[rank][rank], tb(1));
    nvls.atRank(rank).broadcast(scratch[rank][rank], rank, 1, tb(1));
    reduced.signal(tb(1), {.sync = Sync::Before});
    done.release(tb(1));
    done.acquire(tb(2));
    reduced.wait(tb(2), {.sync = Sync::After});
    for (int i = 0; i < ranks; ++i)
      Rank(rank).copy(Rank(rank).output()[i], scratch[rank][i], tb(2));
  }
}

MSCCLC_ALGORITHM void allreduce_pkt(int ranks = 8) {
  CollectiveProgram program("single_node__allreduce_pkt", AllReduce(ranks, ranks, true),
                            {.protocol = Protocol::LL, .autoSync = false, .doubleScratch = true});
  const int half = (ranks - 1) * ranks;
  List<Buffer> scratch;
  for (int rank = 0; rank < ranks; ++rank)
    scratch.push_back(Buffer(rank, 2 * half));
  // A peer's slot in the scratch of `rank`: its place among the other ranks.
  const auto slot = [&](int rank, int peer) { return (peer < rank ? peer : peer - 1) * ranks; };

  for (int rank = 0; rank < ranks; ++rank) {
    Peers peers(rank, ranks);
    auto data = Rank(rank).input();
    peers.each([&](int peer, MemoryChannel &c) {
      const int to = slot(peer, rank), from = peer * ranks;
      c.putPackets(scratch[peer].slice(to, to + ranks), data.slice(from, from + ranks), tb(peers.index(peer)));
    });
    for (int i = 0; i < ranks; ++i) {
      List<Chunk> arrived;
      peers.each([&](int peer, MemoryChannel &) { arrived.push_back(scratch[rank][slot(rank, peer) + i]); });
      Chunk mine = data[rank * ranks + i];
      Rank(rank).reduce(mine, arrived, tb(i), {.packet = true});
      peers.each(
          [&](int peer, MemoryChannel &c) { c.putPackets(scratch[peer][half + slot(peer, rank) + i], mine, tb(i)); });
    }
    peers.each([&](int peer, MemoryChannel &) {
      const int from = half + slot(rank, peer), to = peer * ranks;
      Rank(rank).unpackPackets(data.slice(to, to + ranks), scratch[rank].slice(from, from + ranks), tb(peer));
    });
  }
}

MSCCLC_ALGORITHM void alltoall_alltoall(int ranks = 8) {
  CollectiveProgram program("single_node__alltoall__alltoall", AllToAll(ranks, 1, true), {.instances = 2});
  List<Buffer> scratch;
  for (int rank = 0; rank < ranks; ++rank)
    scratch.push_back(Buffer(rank, ranks - 1));
  for (int rank = 0; rank < ranks; ++rank) {
    Peers peers(rank, ranks);
    auto data = Rank(rank).input();
    const auto block = [&](int peer) { return tb(peers.index(peer)); };
    peers.each([&](int peer, MemoryChannel &c) { c.signal(block(peer), {.relaxed = true}); });
    peers.each([&](int peer, MemoryChannel &c) { c.wait(block(peer), {.sync = Sync::After, .relaxed = true}); });
    peers.each([&](int peer, MemoryChannel &c) {
      c.put(scratch[peer][rank < peer ? rank : rank - 1], data[peer], block(peer));
      c.signal(block(peer), {.sync = Sync::Before});
    });
    peers.each([&](int peer, MemoryChannel &c) {
      c.wait(block(peer), {.sync = Sync::After});
      Rank(rank).copy(data[peer], scratch[rank][peers.index(peer)], block(peer));
    });
  }
}
