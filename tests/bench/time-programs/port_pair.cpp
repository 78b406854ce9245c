// Two GPUs write to each other through ports, with one thread each. MSCCL++'s tutorial on ports measures this.
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void port_pair() {
  CollectiveProgram program("port_pair", SendRecv(2, 1, /*inplace=*/false));
  for (int rank = 0; rank < 2; ++rank) {
    PortChannel channel(1 - rank, rank);
    channel.signal(tb(0));
    channel.wait(tb(0), {.sync = Sync::After});
    channel.putWithSignal(Rank(1 - rank).output()[0], Rank(rank).input()[0], tb(0));
    channel.wait(tb(0), {.sync = Sync::After});
    channel.flush(tb(0));
  }
}
