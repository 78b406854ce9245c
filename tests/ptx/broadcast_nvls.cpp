// Broadcast by the switch: the root waits for nothing after its stores by a multicast address, one of which is to its
// own output. So a fence of aliases has to lie between that store and the user's accesses after the launch.
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void broadcast_nvls(int ranks = 4) {
  CollectiveProgram program("broadcast_nvls", Broadcast(ranks, 1, /*root=*/0, /*inplace=*/false));
  List<int> all;
  for (int rank = 0; rank < ranks; ++rank)
    all.push_back(rank);
  SwitchChannel nvls(all, BufferType::Output);
  List<MemoryChannel> fromRoot, toRoot;
  for (int rank = 1; rank < ranks; ++rank) {
    fromRoot.push_back(MemoryChannel(rank, 0));
    toRoot.push_back(MemoryChannel(0, rank));
  }
  for (MemoryChannel &channel : toRoot) // a peer has begun: its output may be written
    channel.signal(tb(0), {.relaxed = true});
  for (MemoryChannel &channel : fromRoot)
    channel.wait(tb(0), {.sync = Sync::After, .relaxed = true});
  nvls.atRank(0).broadcast(Rank(0).input()[0], 0, 1, tb(0));
  for (MemoryChannel &channel : fromRoot)
    channel.signal(tb(0), {.sync = Sync::Before});
  for (MemoryChannel &channel : toRoot)
    channel.wait(tb(0), {.sync = Sync::After});
}
