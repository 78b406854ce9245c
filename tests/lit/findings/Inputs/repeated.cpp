// Blocks read what others write with no order between them; with `ops`, blocks have that many operations, and no race.
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void repeated(int ranks = 16, int pairs = 4, int instances = 4, int ops = 0) {
  CollectiveProgram program("repeated", TestCollective(ranks, pairs, pairs), {.instances = instances, .fuse = false});
  for (int r = 0; r < ranks; ++r) {
    Rank rank(r);
    Buffer scratch(r, pairs);
    for (int p = 0; p < pairs; ++p) {
      for (int i = 0; i < ops; ++i)
        rank.copy(rank.output()[p], rank.input()[p], tb(p));
      if (ops != 0)
        continue;
      rank.copy(scratch[p], rank.input()[p], tb(2 * p));
      rank.copy(rank.output()[p], scratch[p], tb(2 * p + 1));
    }
  }
}
