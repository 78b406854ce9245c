// AllReduce in the switch of what the kernel itself has copied: a fence of aliases has to lie between the copy, by
// plain addresses, and the reduction, by multicast ones.
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void copied_nvls(int ranks = 4) {
  CollectiveProgram program("copied_nvls", AllReduce(ranks, 1, false));
  List<int> all;
  for (int rank = 0; rank < ranks; ++rank)
    all.push_back(rank);
  SwitchChannel nvls(all, BufferType::Output);
  for (int rank = 0; rank < ranks; ++rank) {
    List<MemoryChannel> channels;
    for (int step = 1; step < ranks; ++step)
      channels.push_back(MemoryChannel((rank + step) % ranks, rank));
    const auto meet = [&] {
      for (MemoryChannel &channel : channels)
        channel.signal(tb(0), {.sync = Sync::Before});
      for (MemoryChannel &channel : channels)
        channel.wait(tb(0), {.sync = Sync::After});
    };
    for (int index = 0; index < ranks; ++index)
      Rank(rank).copy(Rank(rank).output()[index], Rank(rank).input()[index], tb(0));
    meet();
    nvls.atRank(rank).reduce(rank, 1, Rank(rank).output()[rank], tb(0));
    nvls.atRank(rank).broadcast(Rank(rank).output()[rank], rank, 1, tb(0));
    meet();
  }
}
