// AllGather, all pairs, in the chunk language with every thread block and signal named.
//
// When: one NVLink domain, medium and large messages, and a schedule of one's own: each pair of GPUs has a thread block
// on either side.
//   mscclc allgather_allpairs.cpp -P ranks=8 -o plan.json
#include <mscclc/chunks.hpp>
using namespace mscclc;

/// On each GPU, thread block `distance - 1` serves the GPU that is `distance` further on.
MSCCLC_ALGORITHM void allgather_allpairs(int ranks = 8) {
  CollectiveProgram program("allgather_allpairs", AllGather(ranks, 1, /*inplace=*/true));
  // The thread blocks of both GPUs for a message to the GPU that is `distance` further on.
  const auto on = [&](int distance) { return ChunkOptions{.sendtb = distance - 1, .recvtb = ranks - distance - 1}; };
  for (int rank = 0; rank < ranks; ++rank)
    for (int distance = 1; distance < ranks; ++distance) { // "my output may be written": this launch has begun
      const int peer = (rank + distance) % ranks;
      chunk(rank, BufferType::Output, peer).signal(peer, BufferType::Output, peer, on(distance));
    }
  for (int src = 0; src < ranks; ++src)
    for (int distance = 1; distance < ranks; ++distance) {
      const int dst = (src + distance) % ranks;
      const ChunkRef mine = chunk(src, BufferType::Output, src);
      mine.wait(dst, BufferType::Output, src, on(ranks - distance));
      mine.put(dst, BufferType::Output, src, on(distance));
      mine.signal(dst, BufferType::Output, src, on(distance));
    }
  for (int src = 0; src < ranks; ++src)
    for (int distance = 1; distance < ranks; ++distance) {
      const int dst = (src + distance) % ranks;
      chunk(dst, BufferType::Output, src).wait(src, BufferType::Output, src, on(distance));
    }
}
