// What moves in algorithms of MSCCL++ that no sample has, for tests/bench/auto.
#include <mscclc/dsl.hpp>
using namespace mscclc;

/// Every chunk crosses the network once for each other node, then spreads inside it; the inputs stay as they are.
MSCCLC_ALGORITHM void allgather_out_of_place(int nodes = 2, int gpus = 4) {
  const int ranks = nodes * gpus;
  CollectiveProgram program(
      "allgather_out_of_place", AllGather(ranks, 1, /*inplace=*/false),
      {.instances = automatic, .protocol = Protocol::Auto, .schedule = Schedule::Auto, .ranksPerNode = gpus});
  for (int rank = 0; rank < ranks; ++rank)
    for (int node = 0; node < nodes; ++node) {
      const int twin = node * gpus + rank % gpus;
      Chunk here = twin == rank ? Rank(rank).input()[0] : Rank(twin).output()[rank];
      if (twin != rank)
        copy(here, Rank(rank).input()[0]);
      for (int gpu = 0; gpu < gpus; ++gpu)
        copy(Rank(node * gpus + gpu).output()[rank], here);
    }
}
