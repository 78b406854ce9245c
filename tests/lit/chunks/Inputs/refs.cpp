// Programs of refs. Those of the same names in channels.cpp are the same by channels.
#include <mscclc/chunks.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void gather(int ranks = 4) {
  CollectiveProgram program("gather", AllGather(ranks, 1, true));
  for (int src = 0; src < ranks; ++src)
    for (int dst = 0; dst < ranks; ++dst) {
      if (src == dst)
        continue;
      const ChunkOptions to{.sendtb = dst, .recvtb = src}, from{.sendtb = src, .recvtb = dst};
      ChunkRef mine = chunk(src, BufferType::Output, src);
      mine.signal(dst, BufferType::Output, src, to);
      mine.wait(dst, BufferType::Output, src, from);
      mine.put(dst, BufferType::Output, src, to);
      mine.signal(dst, BufferType::Output, src, to);
      mine.wait(dst, BufferType::Output, src, from);
    }
}

MSCCLC_ALGORITHM void by_ports(int ranks = 3) {
  CollectiveProgram program("by_ports", SendRecv(ranks, 2, false));
  const auto rounds = [&](bool data) {
    for (int rank = 0; rank < ranks; ++rank) {
      const int next = (rank + 1) % ranks;
      const ChunkOptions port{.sendtb = 0, .recvtb = 1, .channel = ChannelType::Port};
      const ChunkRef mine = chunk(rank, BufferType::Input, 0, 2);
      if (!data) {
        const ChunkOptions back{.sendtb = 1, .recvtb = 0, .channel = ChannelType::Port};
        chunk(next, BufferType::Output, 0, 2).signal(rank, BufferType::Input, 0, back);
        mine.wait(next, BufferType::Output, 0, back);
        continue;
      }
      const ChunkRef theirs = mine.put(next, BufferType::Output, 0, port);
      mine.signal(next, BufferType::Output, 0, port);
      mine.flush(next, BufferType::Output, 0, port);
      theirs.wait(rank, BufferType::Input, 0, port);
    }
  };
  rounds(false);
  rounds(true);
}

MSCCLC_ALGORITHM void reading() {
  CollectiveProgram program("reading", AllReduce(2, 1, false));
  for (int rank = 0; rank < 2; ++rank) {
    const ChunkOptions both{.sendtb = 0, .recvtb = 0};
    ChunkRef mine = chunk(rank, BufferType::Input, rank);
    mine.signal(1 - rank, BufferType::Input, 0, both);
    mine.wait(1 - rank, BufferType::Input, 0, both);
    ChunkRef sum = mine.copy(rank, BufferType::Output, rank, {.sendtb = 0});
    sum.reduce(chunk(1 - rank, BufferType::Input, rank), {.recvtb = 0});
    sum.signal(1 - rank, BufferType::Output, 0, both);
    sum.wait(1 - rank, BufferType::Output, 0, both);
    chunk(rank, BufferType::Output, 1 - rank).get(1 - rank, BufferType::Output, 1 - rank, {.recvtb = 0});
    sum.signal(1 - rank, BufferType::Output, 0, both);
    sum.wait(1 - rank, BufferType::Output, 0, both);
  }
}

MSCCLC_ALGORITHM void packets(int ranks = 3) {
  CollectiveProgram program("packets", AllReduce(ranks, 1, true), {.protocol = Protocol::LL, .doubleScratch = true});
  for (int rank = 0; rank < ranks; ++rank)
    for (int peer = 0; peer < ranks; ++peer)
      if (peer != rank)
        chunk(rank, BufferType::Input, 0, ranks).putPackets(peer, BufferType::Scratch, rank * ranks, {.sendtb = 0});
  for (int rank = 0; rank < ranks; ++rank) {
    ChunkRef sum = chunk(rank, BufferType::Input, 0, ranks);
    for (int peer = 0; peer < ranks; ++peer)
      if (peer != rank)
        sum.reducePackets(chunk(rank, BufferType::Scratch, peer * ranks, ranks), {.recvtb = 0});
  }
}

MSCCLC_ALGORITHM void looped() {
  CollectiveProgram program("looped", SendRecv(2, 2, false));
  for (int rank = 0; rank < 2; ++rank) {
    const ChunkOptions there{.sendtb = 0, .recvtb = 1}, back{.sendtb = 1, .recvtb = 0};
    const ChunkRef mine = chunk(rank, BufferType::Input, 0, 2); // each round moves its own slice
    pipeline(1_MiB, 2, [&] {
      chunk(1 - rank, BufferType::Output, 0, 2).signal(rank, BufferType::Input, 0, back);
      mine.wait(1 - rank, BufferType::Output, 0, back);
      const ChunkRef theirs = mine.put(1 - rank, BufferType::Output, 0, there);
      mine.signal(1 - rank, BufferType::Output, 0, there);
      theirs.wait(rank, BufferType::Input, 0, there);
    });
  }
}
