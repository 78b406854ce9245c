// AllReduce with LL packets, in the chunk language with every thread block named: data and flag travel together, so no
// signal is needed.
//
// When: small messages (up to about 1 MiB), where latency counts, and a schedule of one's own.
//   mscclc allreduce_packets.cpp -P ranks=8 -o plan.json
#include <mscclc/chunks.hpp>
using namespace mscclc;

/// Two shots: every GPU sums up its share from packets, then sends the sum as packets. Thread block `step` serves the
/// GPU that is `step` further on, and block 0 sums up. Double scratch makes the next launch safe.
MSCCLC_ALGORITHM void allreduce_packets(int ranks = 8) {
  CollectiveProgram program("allreduce_packets", AllReduce(ranks, 1, /*inplace=*/true),
                            {.protocol = Protocol::LL, .doubleScratch = true});
  const auto peerOf = [&](int rank, int step) { return (rank + step) % ranks; };
  for (int rank = 0; rank < ranks; ++rank)
    for (int step = 1; step < ranks; ++step) // the peer's share, into the slot of this rank
      chunk(rank, BufferType::Input, peerOf(rank, step))
          .putPackets(peerOf(rank, step), BufferType::Scratch, rank, {.sendtb = step, .recvtb = ranks - step});
  for (int rank = 0; rank < ranks; ++rank) {
    ChunkRef sum = chunk(rank, BufferType::Input, rank);
    for (int step = 1; step < ranks; ++step)
      sum.reducePackets(chunk(rank, BufferType::Scratch, peerOf(rank, step)), {.recvtb = 0});
    for (int step = 1; step < ranks; ++step) // after the slots of the first shot
      sum.putPackets(peerOf(rank, step), BufferType::Scratch, ranks + rank, {.sendtb = 0, .recvtb = 0});
  }
  for (int rank = 0; rank < ranks; ++rank)
    for (int step = 1; step < ranks; ++step) {
      const int peer = peerOf(rank, step);
      chunk(rank, BufferType::Scratch, ranks + peer).copyPackets(rank, BufferType::Input, peer, {.sendtb = step});
    }
}
