// Blocks that meet in a barrier, more of them than a GPU holds at once.
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void barrier(int blocks = 200, int threads = 1024, bool meets = true) {
  CollectiveProgram program("barrier", AllGather(1, blocks, false), {.threadsPerBlock = threads});
  Rank rank(0);
  List<int> all;
  for (int b = 0; b < blocks; ++b) {
    rank.copy(rank.output()[b], rank.input()[b], tb(b));
    all.push_back(b);
  }
  if (meets)
    rank.barrier(all);
}
