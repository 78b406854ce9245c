// A race of two ranks; the first column of the reader's line holds characters of several bytes.
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void race(int ranks = 2) {
  CollectiveProgram program("race", TestCollective(ranks, 1, 1));
  MemoryChannel there(1, 0), back(0, 1);
  there.put(Rank(1).output()[0], Rank(0).input()[0], tb(0));
  /* äöü */ Rank(1).copy(Rank(1).output()[0], Rank(1).input()[0], tb(0));
}
