// SendRecv: every GPU sends its input to the next one.
//
// When: pipeline parallelism, and as the smallest complete example.
//   mscclc sendrecv.cpp -P ranks=2 --message-size 1M -o plan.json
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void sendrecv(int ranks = 2) {
  CollectiveProgram program("sendrecv", SendRecv(ranks, 1, /*inplace=*/false),
                            {.instances = automatic, .protocol = Protocol::Auto, .schedule = Schedule::Auto});
  for (int rank = 0; rank < ranks; ++rank)
    copy(Rank((rank + 1) % ranks).output()[0], Rank(rank).input()[0]);
}
