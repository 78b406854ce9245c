// Programs of channels. Those of the same names in refs.cpp are the same by refs.
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void gather(int ranks = 4) {
  CollectiveProgram program("gather", AllGather(ranks, 1, true));
  List<MemoryChannel> channels(ranks * ranks, MemoryChannel());
  for (int src = 0; src < ranks; ++src)
    for (int dst = src + 1; dst < ranks; ++dst) {
      channels[src * ranks + dst] = MemoryChannel(dst, src);
      channels[dst * ranks + src] = MemoryChannel(src, dst);
    }
  for (int src = 0; src < ranks; ++src)
    for (int dst = 0; dst < ranks; ++dst) {
      if (src == dst)
        continue;
      const MemoryChannel &channel = channels[src * ranks + dst];
      channel.signal(tb(dst));
      channel.wait(tb(dst));
      channel.put(Rank(dst).output()[src], Rank(src).output()[src], tb(dst));
      channel.signal(tb(dst));
      channel.wait(tb(dst));
    }
}

MSCCLC_ALGORITHM void by_ports(int ranks = 3) {
  CollectiveProgram program("by_ports", SendRecv(ranks, 2, false));
  List<PortChannel> forth, back;
  for (int rank = 0; rank < ranks; ++rank) {
    const int next = (rank + 1) % ranks;
    back.push_back(PortChannel(rank, next));
    forth.push_back(PortChannel(next, rank));
    back[rank].signal(tb(1));
    forth[rank].wait(tb(0));
  }
  for (int rank = 0; rank < ranks; ++rank) {
    const int next = (rank + 1) % ranks;
    forth[rank].put(Rank(next).output().slice(0), Rank(rank).input().slice(0), tb(0));
    forth[rank].signal(tb(0));
    forth[rank].flush(tb(0));
    back[rank].wait(tb(1));
  }
}

MSCCLC_ALGORITHM void reading() {
  CollectiveProgram program("reading", AllReduce(2, 1, false));
  for (int rank = 0; rank < 2; ++rank) {
    const Buffer in = Rank(rank).input(), out = Rank(rank).output();
    const Rank other(1 - rank);
    MemoryChannel channel(1 - rank, rank);
    channel.signal(tb(0));
    channel.wait(tb(0));
    copy(out[rank], in[rank], tb(0));
    channel.reduce(out[rank], {other.input()[rank]}, tb(0));
    channel.signal(tb(0));
    channel.wait(tb(0));
    channel.get(out[1 - rank], other.output()[1 - rank], tb(0));
    channel.signal(tb(0));
    channel.wait(tb(0));
  }
}

MSCCLC_ALGORITHM void packets(int ranks = 3) {
  CollectiveProgram program("packets", AllReduce(ranks, 1, true), {.protocol = Protocol::LL, .doubleScratch = true});
  List<Buffer> scratch;
  for (int rank = 0; rank < ranks; ++rank)
    scratch.push_back(Buffer(rank, ranks * ranks));
  List<MemoryChannel> channels(ranks * ranks, MemoryChannel());
  for (int src = 0; src < ranks; ++src)
    for (int dst = src + 1; dst < ranks; ++dst) {
      channels[src * ranks + dst] = MemoryChannel(dst, src);
      channels[dst * ranks + src] = MemoryChannel(src, dst);
    }
  for (int rank = 0; rank < ranks; ++rank) {
    const Chunk data = Rank(rank).input().slice(0);
    for (int peer = 0; peer < ranks; ++peer)
      if (peer != rank)
        channels[rank * ranks + peer].putPackets(scratch[peer].slice(rank * ranks, (rank + 1) * ranks), data, tb(0));
    for (int peer = 0; peer < ranks; ++peer)
      if (peer != rank)
        reduce(data, {scratch[rank].slice(peer * ranks, (peer + 1) * ranks)}, tb(0), {.packet = true});
  }
}

MSCCLC_ALGORITHM void looped() {
  CollectiveProgram program("looped", SendRecv(2, 2, false));
  for (int rank = 0; rank < 2; ++rank) {
    MemoryChannel back(rank, 1 - rank), there(1 - rank, rank);
    pipeline(1_MiB, 2, [&] {
      back.signal(tb(1));
      there.wait(tb(0));
      there.put(Rank(1 - rank).output().slice(0), Rank(rank).input().slice(0), tb(0));
      there.signal(tb(0));
      back.wait(tb(1));
    });
  }
}
