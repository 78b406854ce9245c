// AllGather, all pairs: every GPU puts its chunk straight into every other GPU's output.
//
// When: GPUs that all reach each other (one NVLink domain); one step, so the lowest latency for small and medium sizes.
//   mscclc allgather_allpairs.cpp -P ranks=8 -o plan.json
#include <mscclc/dsl.hpp>
using namespace mscclc;

/// Every GPU puts its chunk into every other GPU's output. The peers of a GPU are divided among `threadBlocks` blocks;
/// with 0, there is one block for every 16 peers, which is as few as the executor needs.
MSCCLC_ALGORITHM void allgather_allpairs(int ranks = 2, int chunkFactor = 1, int threadBlocks = 0) {
  CollectiveProgram program("allgather_allpairs", AllGather(ranks, chunkFactor, /*inplace=*/true));
  const int blocks = threadBlocks > 0 ? threadBlocks : (ranks + 14) / 16;

  // Each GPU goes through its peers by distance: 1, 2, …. So the GPUs do not all write to the same one at once.
  struct Link {
    int src, dst, block;
    MemoryChannel channel;
  };
  List<Link> links;
  for (int src = 0; src < ranks; ++src)
    for (int step = 1; step < ranks; ++step) {
      const int dst = (src + step) % ranks;
      links.push_back({src, dst, (step - 1) % blocks, MemoryChannel(dst, src)});
    }

  // The peers have started this launch: their outputs may be written.
  for (Link &link : links)
    link.channel.signal(tb(link.block), {.relaxed = true});
  for (Link &link : links)
    link.channel.wait(tb(link.block), {.sync = Sync::After, .relaxed = true});

  for (Link &link : links) {
    const int first = link.src * chunkFactor, last = first + chunkFactor;
    link.channel.put(Rank(link.dst).output().slice(first, last), Rank(link.src).output().slice(first, last),
                     tb(link.block));
  }

  // The chunks of the peers have arrived.
  for (Link &link : links)
    link.channel.signal(tb(link.block), {.sync = Sync::Before});
  for (Link &link : links)
    link.channel.wait(tb(link.block), {.sync = Sync::After});
}
