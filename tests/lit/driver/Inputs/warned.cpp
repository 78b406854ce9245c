#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void warned(int ranks = 2) {
  CollectiveProgram program("warned", TestCollective(ranks, 1, 1));
  MemoryChannel channel(1, 0);
  Rank(0).copy(Rank(0).output()[0], Rank(0).input()[0], tb(0));
}
