#include <mscclc/dsl.hpp>
using namespace mscclc;

/// One rank, which copies.
MSCCLC_ALGORITHM void alone() {
  CollectiveProgram program("alone", TestCollective(1, 1, 1), {.schedule = Schedule::Auto});
  copy(Rank(0).output()[0], Rank(0).input()[0]);
}
