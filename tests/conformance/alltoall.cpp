// The programs behind plans/alltoall: every rank sends a chunk to every other rank, by way of scratch.
#include <mscclc/dsl.hpp>
using namespace mscclc;

namespace {

/// The resources of each rank: two channels and a semaphore for every peer, and a scratch chunk for each peer's data.
struct Exchange {
  int ranks;
  List<Buffer> scratch;
  List<List<MemoryChannel>> data, ready;
  List<List<Semaphore>> sent;
  Exchange(int ranks, bool semaphores) : ranks(ranks) {
    for (int rank = 0; rank < ranks; ++rank) {
      scratch.push_back(Buffer(rank, ranks - 1));
      List<MemoryChannel> dataOf, readyOf;
      List<Semaphore> sentOf;
      for (int peer = 0; peer < ranks; ++peer)
        if (peer != rank) {
          dataOf.push_back(MemoryChannel(peer, rank));
          readyOf.push_back(MemoryChannel(peer, rank));
          if (semaphores)
            sentOf.push_back(Semaphore(rank, 0));
        }
      data.push_back(dataOf);
      ready.push_back(readyOf);
      sent.push_back(sentOf);
    }
  }
  /// Returns the index of `peer` among the peers of `rank`.
  static int index(int rank, int peer) { return peer < rank ? peer : peer - 1; }
  MemoryChannel &channel(int rank, int peer) { return data[rank][index(rank, peer)]; }

  /// Waits until every peer's scratch may be written. `block(peer)` is the block that waits.
  template <typename Block> void handshake(int rank, Block block) {
    for (int i = 0; i < ranks - 1; ++i)
      ready[rank][i].signal(block(i), {.relaxed = true});
    for (int i = 0; i < ranks - 1; ++i)
      ready[rank][i].wait(block(i), {.sync = Sync::After, .relaxed = true});
  }
  void send(int rank, int peer, ThreadBlock on) {
    channel(rank, peer).put(scratch[peer][index(peer, rank)], Rank(rank).input()[peer], on);
    channel(rank, peer).signal(on, {.sync = Sync::Before});
  }
  void receive(int rank, int peer, Chunk to, ThreadBlock on) {
    channel(rank, peer).wait(on, {.sync = Sync::After});
    Rank(rank).copy(to, scratch[rank][index(rank, peer)], on);
  }
};

} // namespace

MSCCLC_ALGORITHM void alltoall_pipeline(int ranks = 8) {
  CollectiveProgram program("alltoall__alltoall_pipeline", AllToAll(ranks, 1, true), {.instances = 2});
  List<List<Semaphore>> sent;
  for (int rank = 0; rank < ranks; ++rank) {
    sent.push_back({});
    for (int i = 0; i < ranks; ++i)
      sent[rank].push_back(Semaphore(rank, 0));
  }
  Exchange exchange(ranks, false);
  for (int rank = 0; rank < ranks; ++rank)
    exchange.handshake(rank, [](int i) { return tb(i); });
  PipelineLoop loop(512_KiB, 1);
  for (int rank = 0; rank < ranks; ++rank)
    for (int peer = 0; peer < ranks; ++peer)
      if (peer != rank) {
        const int i = Exchange::index(rank, peer);
        exchange.send(rank, peer, tb(i));
        sent[rank][i].release(tb(i));
        sent[rank][i].acquire(tb(ranks - 1 + i));
        exchange.receive(rank, peer, Rank(rank).input()[peer], tb(ranks - 1 + i));
      }
}

MSCCLC_ALGORITHM void alltoall_ring(int ranks = 8, int instances = 16) {
  CollectiveProgram program("alltoall__alltoall_ring", AllToAll(ranks, 1, true), {.instances = instances});
  Exchange exchange(ranks, true);
  for (int rank = 0; rank < ranks; ++rank) {
    exchange.handshake(rank, [](int) { return tb(0); });
    for (int step = 1; step < ranks; ++step) {
      const int peer = (rank + step) % ranks;
      exchange.send(rank, peer, tb(0));
      exchange.sent[rank][Exchange::index(rank, peer)].release(tb(0));
    }
    for (int step = 1; step < ranks; ++step) {
      const int peer = (rank + ranks - step) % ranks;
      exchange.sent[rank][Exchange::index(rank, peer)].acquire(tb(1));
      exchange.receive(rank, peer, Rank(rank).input()[peer], tb(1));
    }
  }
}

MSCCLC_ALGORITHM void alltoall_ring_oop(int ranks = 8, int instances = 16) {
  CollectiveProgram program("alltoall__alltoall_ring_oop", AllToAll(ranks, 1, false), {.instances = instances});
  Exchange exchange(ranks, false);
  for (int rank = 0; rank < ranks; ++rank) {
    exchange.handshake(rank, [](int) { return tb(0); });
    for (int step = 1; step < ranks; ++step)
      exchange.send(rank, (rank + step) % ranks, tb(0));
    Rank(rank).copy(Rank(rank).output()[rank], Rank(rank).input()[rank], tb(0));
    for (int step = 1; step < ranks; ++step) {
      const int peer = (rank + ranks - step) % ranks;
      exchange.receive(rank, peer, Rank(rank).output()[peer], tb(1));
    }
  }
}

/// Pairs of ranks exchange data in turn. In each step, the partner of a rank is the first remaining one that it has not
/// met.
MSCCLC_ALGORITHM void alltoall_ring_peers(int ranks = 8, int instances = 16) {
  CollectiveProgram program("alltoall__alltoall_ring_peers", AllToAll(ranks, 1, true), {.instances = instances});
  Exchange exchange(ranks, true);
  for (int rank = 0; rank < ranks; ++rank)
    exchange.handshake(rank, [](int) { return tb(0); });
  List<int> met(ranks * ranks, 0);
  for (int step = 1; step < ranks; ++step) {
    List<int> partner(ranks, -1);
    for (int low = 0; low < ranks; ++low)
      for (int high = low + 1; high < ranks && partner[low] < 0; ++high)
        if (partner[high] < 0 && !met[low * ranks + high]) {
          partner[low] = high;
          partner[high] = low;
          met[low * ranks + high] = 1;
        }
    for (int rank = 0; rank < ranks; ++rank) {
      const int peer = partner[rank];
      Semaphore &sent = exchange.sent[rank][Exchange::index(rank, peer)];
      exchange.send(rank, peer, tb(0));
      sent.release(tb(0));
      sent.acquire(tb(1));
      exchange.receive(rank, peer, Rank(rank).input()[peer], tb(1));
    }
  }
}

/// With packets, which need no handshake: double scratch separates one launch from the next.
MSCCLC_ALGORITHM void alltoall_pkt(int ranks = 8) {
  CollectiveProgram program("alltoall__alltoall_pkt", AllToAll(ranks, 1, true),
                            {.instances = 2, .protocol = Protocol::LL, .doubleScratch = true});
  Exchange exchange(ranks, false);
  const auto eachPeer = [&](auto body) {
    for (int rank = 0; rank < ranks; ++rank)
      for (int i = 0; i < ranks - 1; ++i)
        body(rank, i, i < rank ? i : i + 1);
  };
  eachPeer([&](int rank, int i, int peer) {
    exchange.data[rank][i].putPackets(exchange.scratch[peer][Exchange::index(peer, rank)], Rank(rank).input()[peer],
                                      tb(i));
  });
  eachPeer([&](int rank, int i, int peer) {
    Rank(rank).unpackPackets(Rank(rank).input()[peer], exchange.scratch[rank][i], tb(i));
  });
}
