// Lesson 1: every GPU's chunk goes into every other GPU's output.
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void first_allgather(int ranks = 4) {
  CollectiveProgram program("first_allgather", AllGather(ranks, 1, /*inplace=*/true), {.schedule = Schedule::Auto});
  for (int from = 0; from < ranks; ++from)
    for (int to = 0; to < ranks; ++to)
      copy(Rank(to).output()[from], Rank(from).output()[from]);
}
