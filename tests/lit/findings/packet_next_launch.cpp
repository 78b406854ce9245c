// A packet says that its sender has begun its launch, but its taker acquires nothing: it orders no plain access of an
// earlier launch, or of the sender's user.
// RUN: %verify %s
#include <mscclc/dsl.hpp>
using namespace mscclc;

/// Rank 1 takes a packet of rank 0, and writes rank 0's output.
MSCCLC_ALGORITHM void packet_next_launch() {
  CollectiveProgram program("packet_next_launch", AllGather(2, 1, true), {.protocol = Protocol::LL});
  const Buffer scratch(1, 1);
  MemoryChannel there(1, 0), back(0, 1);
  there.putPackets(scratch[0], Rank(0).output()[0], tb(0)); // expected-note@:9 {{schedule 1: rank 0, block 0 runs up to its operation 0 ('putPackets')}}
  Rank(1).unpackPackets(Rank(1).output()[0], scratch[0], tb(0));
  Rank(1).barrier({0}); // expected-note@:11 {{schedule 2: rank 1, block 0 runs up to its operation 1 ('sync')}}
  // expected-error@+3:8 {{rank 1, block 0 may write output[1] of rank 0 before rank 0 begins its launch: that rank may still run the launch before, or its user may still use the buffer}}
  // expected-note@+2:8 {{only a packet tells rank 1 that rank 0 has ended the one before, which orders no plain access: a relaxed signal from rank 0 at its start and a wait for it (Sync::After) would}}
  // expected-note@+1:8 {{schedule 3: rank 1, block 0 writes output[1] of rank 0 ('put')}}
  back.put(Rank(0).output()[1], Rank(1).output()[1], tb(0));
  back.signal(tb(0), {.sync = Sync::Before});
  there.wait(tb(0), {.sync = Sync::After});
}
// expected-note@"rank 0" {{schedule 4: rank 0 begins; its user has written output[1] of rank 0 only now}}
