// AllReduce, all pairs, in the chunk language: every GPU collects its share of all others in scratch, sums it up, and
// hands the sum back.
//
// When: one NVLink domain of up to 9 GPUs, medium and large messages.
//   mscclc allreduce_allpairs.cpp -P ranks=8 --message-size 1M -o plan.json
#include <mscclc/chunks.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void allreduce_allpairs(int ranks = 8) {
  CollectiveProgram program("allreduce_allpairs", AllReduce(ranks, 1, /*inplace=*/true),
                            {.instances = automatic, .protocol = Protocol::Auto, .schedule = Schedule::Auto});
  for (int rank = 0; rank < ranks; ++rank) {
    ChunkRef sum = chunk(rank, BufferType::Input, rank);
    for (int step = 1; step < ranks; ++step)
      sum.reduce(chunk((rank + step) % ranks, BufferType::Input, rank).copy(rank, BufferType::Scratch, step - 1));
    for (int step = 1; step < ranks; ++step)
      sum.copy((rank + step) % ranks, BufferType::Input, rank);
  }
}
