// Lesson 4: an all-gather over nodes, straight or by a twin in each node.
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void two_nodes(int nodes = 2, int gpus = 8, bool twins = true) {
  const int ranks = nodes * gpus;
  CollectiveProgram program("two_nodes", AllGather(ranks, 1, /*inplace=*/true),
                            {.instances = automatic, .schedule = Schedule::Auto, .ranksPerNode = gpus});
  for (int from = 0; from < ranks; ++from)
    for (int node = 0; node < nodes; ++node) {
      const int twin = node * gpus + from % gpus; // the GPU of that node with the same place
      Chunk source = Rank(from).output()[from];
      if (twins) {
        copy(Rank(twin).output()[from], source); // across the network, once for each node
        source = Rank(twin).output()[from];
      }
      for (int gpu = 0; gpu < gpus; ++gpu)
        copy(Rank(node * gpus + gpu).output()[from], source);
    }
}
