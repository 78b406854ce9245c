// Each rank has blocks that read what another thread has only just written; with `ops`, blocks of many operations.
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void repeated(int ranks = 64, int blocks = 4, int instances = 4, int ops = 0) {
  CollectiveProgram program("repeated", TestCollective(ranks, blocks, blocks), {.instances = instances, .fuse = false, .autoSync = false});
  for (int r = 0; r < ranks; ++r) {
    Buffer scratch(r, blocks);
    for (int b = 0; b < blocks; ++b) {
      if (ops == 0)
        Rank(r).copy(scratch[b], Rank(r).input()[b], tb(b));
      Rank(r).copy(Rank(r).output()[b], scratch[b], tb(b));
      for (int i = 1; i < ops; ++i)
        Rank(r).copy(Rank(r).output()[b], Rank(r).input()[b], tb(b));
    }
  }
}
