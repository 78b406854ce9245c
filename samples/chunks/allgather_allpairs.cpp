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
  for (int src = 0; src < ranks; ++src)
    for (int distance = 1; distance < ranks; ++distance) {
      const int dst = (src + distance) % ranks;
      const ChunkOptions there{.sendtb = distance - 1, .recvtb = ranks - distance - 1};
      const ChunkOptions back{.sendtb = there.recvtb, .recvtb = there.sendtb};
      const ChunkRef mine = chunk(src, BufferType::Output, src);
      // The other GPU has begun this launch, so its output may be written.
      chunk(dst, BufferType::Output, src).signal(src, BufferType::Output, src, back);
      mine.wait(dst, BufferType::Output, src, back);
      const ChunkRef theirs = mine.put(dst, BufferType::Output, src, there);
      mine.signal(dst, BufferType::Output, src, there);
      theirs.wait(src, BufferType::Output, src, there);
    }
}
