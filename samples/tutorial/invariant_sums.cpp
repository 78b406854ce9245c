// Lesson 5: an all-reduce around a ring, or straight, with the order of its sums as a parameter.
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void invariant_sums(int ranks = 4, Order order = Order::Written, bool ring = false) {
  CollectiveProgram program("invariant_sums", AllReduce(ranks, 1, /*inplace=*/true),
                            {.instances = automatic,
                             .protocol = Protocol::Auto,
                             .minMessageSize = 1,
                             .schedule = Schedule::Auto,
                             .order = order});
  for (int share = 0; share < ranks; ++share) {
    const auto at = [&](int step) { return Rank((share + step) % ranks).input()[share]; };
    List<Chunk> others;
    for (int step = 1; step < ranks; ++step) {
      if (ring)
        reduce(at(step), {at(step - 1)});
      others.push_back(at(ring ? step - 1 : step));
    }
    if (!ring)
      reduce(at(0), others);
    copy(others, at(ring ? ranks - 1 : 0));
  }
}
