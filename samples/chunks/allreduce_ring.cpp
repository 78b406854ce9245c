// AllReduce, ring, in the chunk language: each share goes around to be summed, then around again to be stored.
//
// When: large messages where only neighbours are fast; every link carries 2(n-1)/n of the message.
//   mscclc allreduce_ring.cpp -P ranks=8 --message-size 64M -o plan.json
#include <mscclc/chunks.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void allreduce_ring(int ranks = 8) {
  CollectiveProgram program("allreduce_ring", AllReduce(ranks, 1, /*inplace=*/true),
                            {.instances = automatic, .protocol = Protocol::Auto, .schedule = Schedule::Auto});
  for (int share = 0; share < ranks; ++share) {
    ChunkRef sum = chunk(share, BufferType::Input, share);
    for (int step = 1; step < ranks; ++step)
      sum = chunk((share + step) % ranks, BufferType::Input, share).reduce(sum);
    for (int step = 0; step + 1 < ranks; ++step)
      sum = sum.copy((share + step) % ranks, BufferType::Input, share);
  }
}
