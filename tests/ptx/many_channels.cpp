// AllGather with a channel for each chunk that a rank sends. These are more channels than a kernel has among its
// parameters (MSCCLC_PARAMETER_CHANNELS), so it finds them in a table in memory.
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void many_channels(int ranks = 4) {
  const int chunks = 130 / (ranks - 1) + 1;
  CollectiveProgram program("many_channels", AllGather(ranks, chunks, /*inplace=*/true));
  struct Link {
    Chunk from, to;
    MemoryChannel channel;
  };
  List<Link> links;
  for (int rank = 0; rank < ranks; ++rank)
    for (int step = 1; step < ranks; ++step)
      for (int i = rank * chunks; i < (rank + 1) * chunks; ++i) {
        const int peer = (rank + step) % ranks;
        links.push_back({Rank(rank).output()[i], Rank(peer).output()[i], MemoryChannel(peer, rank)});
      }
  for (const Link &link : links)
    link.channel.signal(tb(0), {.relaxed = true});
  for (const Link &link : links)
    link.channel.wait(tb(0), {.sync = Sync::After, .relaxed = true});
  for (const Link &link : links)
    link.channel.put(link.to, link.from, tb(0));
  for (const Link &link : links)
    link.channel.signal(tb(0), {.sync = Sync::Before});
  for (const Link &link : links)
    link.channel.wait(tb(0), {.sync = Sync::After});
}
