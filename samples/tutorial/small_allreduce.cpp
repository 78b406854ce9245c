// Lesson 2: an all-reduce in one hop or in two.
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void small_allreduce(int ranks = 8, int hops = 1) {
  CollectiveProgram program(
      "small_allreduce", AllReduce(ranks, 1, /*inplace=*/false),
      {.instances = automatic, .protocol = Protocol::Auto, .minMessageSize = 1, .schedule = Schedule::Auto});
  for (int rank = 0; rank < ranks; ++rank) {
    const auto part = [&](Buffer buffer) { return hops == 1 ? buffer.slice(0) : buffer[rank]; };
    List<Chunk> others, places;
    for (int other = 0; other < ranks; ++other) {
      if (other > 0)
        others.push_back(part(Rank(other).input()));
      if (other != rank)
        places.push_back(part(Rank(other).output()));
    }
    reduce(part(Rank(rank).output()), part(Rank(0).input()), others);
    if (hops == 2)
      copy(places, part(Rank(rank).output()));
  }
}
