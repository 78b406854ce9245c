// AllToAll: every GPU puts chunk d of its input into the output of GPU d.
//
// When: expert-parallel dispatch and transposes within one NVLink domain.
//   mscclc alltoall.cpp -P ranks=8 -o plan.json
#include <mscclc/dsl.hpp>
using namespace mscclc;

/// The peers of a GPU are divided among `threadBlocks` blocks; 0: one block for every 16 peers.
MSCCLC_ALGORITHM void alltoall(int ranks = 8, int chunkFactor = 1, int threadBlocks = 0) {
  CollectiveProgram program("alltoall", AllToAll(ranks, chunkFactor, /*inplace=*/false));
  const int blocks = threadBlocks > 0 ? threadBlocks : (ranks + 14) / 16;
  const auto share = [&](auto buffer, int index) {
    return buffer.slice(index * chunkFactor, (index + 1) * chunkFactor);
  };

  for (int rank = 0; rank < ranks; ++rank) {
    List<MemoryChannel> channels;
    for (int step = 1; step < ranks; ++step)
      channels.push_back(MemoryChannel((rank + step) % ranks, rank));
    const auto blockOf = [&](int step) { return tb((step - 1) % blocks); };

    // The peers have started this launch: their outputs may be written.
    for (int step = 1; step < ranks; ++step)
      channels[step - 1].signal(blockOf(step), {.relaxed = true});
    for (int step = 1; step < ranks; ++step)
      channels[step - 1].wait(blockOf(step), {.sync = Sync::After, .relaxed = true});

    Rank(rank).copy(share(Rank(rank).output(), rank), share(Rank(rank).input(), rank), tb(0));
    for (int step = 1; step < ranks; ++step) {
      const int peer = (rank + step) % ranks;
      channels[step - 1].put(share(Rank(peer).output(), rank), share(Rank(rank).input(), peer), blockOf(step));
    }

    for (int step = 1; step < ranks; ++step)
      channels[step - 1].signal(blockOf(step), {.sync = Sync::Before});
    for (int step = 1; step < ranks; ++step)
      channels[step - 1].wait(blockOf(step), {.sync = Sync::After});
  }
}
