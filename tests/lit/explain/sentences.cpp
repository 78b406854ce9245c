// Sentences of --explain that samples have no example of. Each line begins with the place that it is about.
// RUN: mscclc %s --algorithm turns --explain | FileCheck %s --check-prefix=TURNS
// RUN: mscclc %s --algorithm shared --explain | FileCheck %s --check-prefix=SHARED
// RUN: mscclc %s --algorithm inTurn --explain | FileCheck %s --check-prefix=IN-TURN
// RUN: mscclc %s --algorithm handedOn --explain | FileCheck %s --check-prefix=HANDED-ON
// RUN: mscclc %s --algorithm blocks --explain | FileCheck %s --check-prefix=BLOCKS
// RUN: mscclc %s --algorithm many -O0 --explain | FileCheck %s --check-prefix=MANY
// RUN: mscclc %s --algorithm many -O0 --explain --json | FileCheck %s --check-prefix=MANY-JSON
#include <mscclc/dsl.hpp>
using namespace mscclc;

/// Two thread blocks take turns at one channel.
MSCCLC_ALGORITHM void turns() {
  CollectiveProgram program("turns", TestCollective(2, 1, 1));
  const auto [to, back] = MemoryChannel::pair(0, 1);
  // TURNS: why each sync is there
  // TURNS-NEXT: sentences.cpp:[[#@LINE+2]]:8: signal of rank 1 to rank 0, waited for at line [[#@LINE+4]]{{$}}
  // TURNS-NEXT: sentences.cpp:[[#@LINE+1]]:8: no access needs it, but several thread blocks use one channel or semaphore, and without it the count would be wrong{{$}}
  back.signal(tb(0), {.sync = Sync::None});
  back.signal(tb(0), {.sync = Sync::None});
  to.wait(tb(0), {.sync = Sync::After});
  // TURNS: sentences.cpp:[[#@LINE+2]]:11: barrier of thread blocks on rank 0{{$}}
  // TURNS-NEXT: sentences.cpp:[[#@LINE+2]]:6: without it, block 1 of rank 0 could wait on the channel that block 0 of rank 0 (line [[#@LINE-2]]) waits on, and take its signal{{$}}
  Rank(0).barrier({0, 1});
  to.wait(tb(1), {.sync = Sync::None});
}

/// Two thread blocks count with one semaphore, and nothing depends on it.
MSCCLC_ALGORITHM void shared() {
  CollectiveProgram program("shared", TestCollective(2, 1, 1));
  const Semaphore count(0, 0);
  // SHARED: sentences.cpp:[[#@LINE+2]]:9: semaphore on rank 0, waited for at line [[#@LINE+4]]{{$}}
  // SHARED-NEXT: sentences.cpp:[[#@LINE+1]]:9: no access needs it, but several thread blocks use
  count.release(tb(1), Sync::None);
  count.release(tb(2), Sync::None);
  count.acquire(tb(0), Sync::None);
  count.acquire(tb(0), Sync::None);
  // The executor has thread block 0 on each rank; what fills it is no sync.
  // SHARED-NOT: operation 0
}

/// Ranks 1 and 2 write one chunk of rank 0 in turn, launch after launch.
MSCCLC_ALGORITHM void inTurn() {
  CollectiveProgram program("inTurn", TestCollective(3, 1, 1));
  const Chunk shared = Buffer(0, 1)[0];
  const auto [one, unused] = MemoryChannel::pair(1, 0);
  const auto [two, unusedToo] = MemoryChannel::pair(2, 0);
  const auto [forth, back] = MemoryChannel::pair(1, 2);
  one.put(shared, Rank(1).input()[0], tb(0));
  // IN-TURN: sentences.cpp:[[#@LINE+4]]:9: sync of the threads of a block on rank 1{{$}}
  // IN-TURN-NEXT: sentences.cpp:[[#@LINE+7]]:7: without it, rank 1 (line [[#@LINE-2]]) could write scratch[0] of rank 0 after rank 2 has done so, and leave an older value there; one thread of the block signals this next, and waits here until the others are done{{$}}
  // IN-TURN-NEXT: sentences.cpp:[[#@LINE+2]]:9: signal of rank 1 to rank 2, waited for at line [[#@LINE+5]]{{$}}
  // IN-TURN-NEXT: sentences.cpp:[[#@LINE+5]]:7: without it, rank 1 (line [[#@LINE-4]]) could write scratch[0] of rank 0 after rank 2 has done so, and leave an older value there{{$}}
  forth.signal(tb(0), {.sync = Sync::Before});
  // IN-TURN-NEXT: sentences.cpp:[[#@LINE+2]]:8: sync of the threads of a block on rank 2{{$}}
  // IN-TURN-NEXT: and leave an older value there; one thread of the block waits for that, and the others wait here for that thread{{$}}
  back.wait(tb(0), {.sync = Sync::After});
  two.put(shared, Rank(2).input()[0], tb(0));
  // IN-TURN-NEXT: sentences.cpp:[[#@LINE+2]]:8: signal of rank 2 to rank 1, waited for at line [[#@LINE+3]]{{$}}
  // IN-TURN-NEXT: sentences.cpp:[[#@LINE-11]]:7: without it, rank 2 (line [[#@LINE-2]]), in the launch before, may still write scratch[0] of rank 0 when rank 1 writes it{{$}}
  back.signal(tb(0), {.sync = Sync::Before});
  forth.wait(tb(0), {.sync = Sync::None});
}

/// Rank 0 reads what rank 1 wrote in the launch before.
MSCCLC_ALGORITHM void handedOn() {
  CollectiveProgram program("handedOn", TestCollective(2, 1, 1));
  const Chunk kept = Buffer(0, 1)[0];
  const auto [mine, other] = MemoryChannel::pair(0, 1);
  Rank(0).copy(Rank(0).output()[0], kept, tb(0));
  // HANDED-ON: sentences.cpp:[[#@LINE+2]]:8: signal of rank 0 to rank 1
  // HANDED-ON-NEXT: sentences.cpp:[[#@LINE+3]]:9: without it, rank 1 could overwrite scratch[0] of rank 0 while rank 0 (line [[#@LINE-2]]) still reads it{{$}}
  mine.signal(tb(0), {.sync = Sync::Before});
  other.wait(tb(0), {.sync = Sync::After});
  other.put(kept, Rank(1).input()[0], tb(0));
  // HANDED-ON: sentences.cpp:[[#@LINE+2]]:9: signal of rank 1 to rank 0, waited for at line [[#@LINE+3]]{{$}}
  // HANDED-ON-NEXT: sentences.cpp:[[#@LINE-7]]:11: without it, rank 1 (line [[#@LINE-2]]), in the launch before, may still write scratch[0] of rank 0 when rank 0 reads it{{$}}
  other.signal(tb(0), {.sync = Sync::Before});
  mine.wait(tb(0), {.sync = Sync::None});
}

/// Two thread blocks of one rank, and two threads of one.
MSCCLC_ALGORITHM void blocks() {
  CollectiveProgram program("blocks", TestCollective(1, 4, 4));
  const Rank rank(0);
  const Buffer scratch(0, 4);
  rank.copy(scratch.slice(0), rank.input().slice(0), tb(0));
  // BLOCKS: sentences.cpp:[[#@LINE+2]]:8: barrier of thread blocks on rank 0{{$}}
  // BLOCKS-NEXT: sentences.cpp:[[#@LINE+2]]:8: without it, block 1 of rank 0 could read scratch[2:4] of rank 0 before block 0 of rank 0 (line [[#@LINE-2]]) has written it{{$}}
  rank.barrier({0, 1});
  rank.copy(rank.output().slice(0, 2), scratch.slice(2, 4), tb(1));
  rank.copy(rank.output().slice(2, 4), scratch.slice(0, 2), tb(0));
  // BLOCKS-NEXT: sentences.cpp:[[#@LINE+2]]:8: barrier of thread blocks on rank 0{{$}}
  // BLOCKS-NEXT: sentences.cpp:[[#@LINE+2]]:8: without it, a thread of block 0 of rank 0 could overwrite scratch[1] of rank 0 while another thread of the block (line [[#@LINE-2]]) still reads it{{$}}
  rank.barrier({0, 1});
  rank.copy(scratch.slice(1, 2), rank.input().slice(0, 1), tb(0));
}

/// More barriers that nothing needs than the proof is asked about.
MSCCLC_ALGORITHM void many() {
  CollectiveProgram program("many", TestCollective(1, 1, 1));
  const Rank rank(0);
  rank.copy(rank.output().slice(0), rank.input().slice(0), tb(0));
  // MANY-COUNT-8: 8: nothing needs it: without it every access is still in order, and -O2 drops what the proof can do without
  // MANY: sentences.cpp:[[#@LINE+12]]:8: barrier of thread blocks on rank 0{{$}}
  // MANY-NEXT: sentences.cpp:[[#@LINE+11]]:8: not examined: no two accesses need it, and the proof was asked about as many others as it may be for one program{{$}}
  // MANY-JSON: "needed": null,
  // MANY-JSON-NEXT: "reason": "not-asked",
  rank.barrier({0, 1});
  rank.barrier({0, 1});
  rank.barrier({0, 1});
  rank.barrier({0, 1});
  rank.barrier({0, 1});
  rank.barrier({0, 1});
  rank.barrier({0, 1});
  rank.barrier({0, 1});
  rank.barrier({0, 1});
}
