// AllReduce through scratch: every GPU sends shares, reduces what it gets and sends the sum. Scratch keeps the three
// apart, so that they can be stages of a pipeline.
//
// When: large messages, where sending, reducing and collecting should all be busy at once.
//   mscclc allreduce_pipeline.cpp -P ranks=4 --message-size 64M -o plan.json
// -P inplace=false is for calls whose input is another buffer than the output.
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void allreduce_pipeline(int ranks = 4, bool inplace = true) {
  CollectiveProgram program("allreduce_pipeline", AllReduce(ranks, 1, inplace),
                            {.instances = automatic, .protocol = Protocol::Auto, .schedule = Schedule::Auto});
  const auto sum = [&](int rank, int share) { return (inplace ? Rank(rank).input() : Rank(rank).output())[share]; };
  for (int rank = 0; rank < ranks; ++rank) {
    Buffer arrived(rank, ranks);
    List<Chunk> parts, places; // share `rank`: as received from the other GPUs, and its places on them
    for (int step = 1; step < ranks; ++step) {
      const int peer = (rank + step) % ranks;
      copy(arrived[peer], Rank(peer).input()[rank]);
      parts.push_back(arrived[peer]);
      places.push_back(sum(peer, rank));
    }
    reduce(sum(rank, rank), Rank(rank).input()[rank], parts);
    copy(places, sum(rank, rank));
  }
}
