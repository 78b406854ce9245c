// A packet orders no earlier read of its sender before a write of whoever takes it, unless its data was computed from what
// was read: it is a relaxed store.
// RUN: %verify %s
#include <mscclc/dsl.hpp>
using namespace mscclc;

/// Rank 0 copies its first chunk aside, and then sends rank 1 the second one. Rank 1 takes that, and overwrites the first.
MSCCLC_ALGORITHM void packet_order() {
  CollectiveProgram program("packet_order", TestCollective(2, 2, 2), {.protocol = Protocol::LL});
  const Buffer scratch(1, 1);
  MemoryChannel there(1, 0), back(0, 1);
  Rank(0).copy(Rank(0).output()[0], Rank(0).input()[0], tb(0)); // expected-note@:11 {{the other access: read ('copy') by rank 0, block 0}}
  // expected-note@-1:11 {{schedule 4: rank 0, block 0 reads input[0] of rank 0 ('copy') only now}}
  Rank(0).barrier({0});
  there.putPackets(scratch[0], Rank(0).input()[1], tb(0)); // expected-note@:9 {{schedule 1: rank 0, block 0 runs up to its operation 2 ('putPackets')}}
  Rank(1).unpackPackets(Rank(1).output()[0], scratch[0], tb(0));
  Rank(1).barrier({0}); // expected-note@:11 {{schedule 2: rank 1, block 0 runs up to its operation 1 ('sync')}}
  // expected-error@+3:8 {{race on input[0] of rank 0: the read ('copy') by rank 0, block 0 and the write ('put') by rank 1, block 0 are not ordered}}
  // expected-note@+2:8 {{only a packet orders them, which keeps no earlier read before a write: a signal and a wait would}}
  // expected-note@+1:8 {{schedule 3: rank 1, block 0 writes input[0] of rank 0 ('put')}}
  back.put(Rank(0).input()[0], Rank(1).input()[0], tb(0));
  back.signal(tb(0), {.sync = Sync::Before});
  there.wait(tb(0), {.sync = Sync::After});
}
