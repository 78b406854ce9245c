// A port sends the packets of putPackets as they lie there: they must have been written before.
// RUN: mscclc %s --algorithm right -O1 --target=none -q -o - | FileCheck %s --check-prefix=RIGHT
// RUN: mscclc %s --algorithm right --run --size 96 --dtype f32 --schedules 20
// RUN: mscclc %s --algorithm right -P taken=true --verify | FileCheck %s --check-prefix=TAKEN
// RUN: mscclc %s --algorithm right -P taken=true --run --size 96 --dtype f32 --schedules 20
// RUN: not mscclc %s --algorithm right -P autoSync=false --verify 2>&1 | FileCheck %s --check-prefix=RACE
// RUN: not mscclc %s --algorithm right -P written=false --verify 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: not mscclc %s --algorithm right -P written=false --run --size 96 --dtype f32 --schedules 2
// RUN: not mscclc %s --algorithm right -P doubleScratch=false --verify 2>&1 | FileCheck %s --check-prefix=AGAIN
// RUN: not mscclc %s --algorithm plain 2>&1 | FileCheck %s --check-prefix=PLAIN
#include <mscclc/dsl.hpp>
using namespace mscclc;

/// Each rank packs its input, and sends the packets to all others; or what it took of its neighbour's, to the one behind.
MSCCLC_ALGORITHM void right(int ranks = 3, bool written = true, bool autoSync = true, bool doubleScratch = true,
                            bool taken = false) {
  CollectiveProgram program("port_packets", AllGather(ranks, 1, false),
                            {.protocol = Protocol::LL, .autoSync = autoSync, .doubleScratch = doubleScratch});
  List<Buffer> scratch;
  for (int r = 0; r < ranks; ++r)
    scratch.push_back(Buffer(r, ranks));
  for (int r = 0; r < ranks; ++r) {
    Rank rank(r);
    const int next = (r + 1) % ranks, behind = (r + ranks - 1) % ranks;
    PortChannel toNext(next, r), toBehind(behind, r);
    Chunk mine = rank.input()[0];
    rank.copy(rank.output()[r], mine, tb(0));
    if (written)
      rank.copyPackets(scratch[r][r], mine, tb(0));
    toNext.putPackets(scratch[next][r], scratch[r][r], tb(0));
    if (!taken)
      toBehind.putPackets(scratch[behind][r], scratch[r][r], tb(0));
    rank.unpackPackets(rank.output()[behind], scratch[r][behind], tb(0));
    if (taken) {
      rank.barrier({0});
      toNext.putPackets(scratch[next][behind], scratch[r][behind], tb(0));
    }
    rank.unpackPackets(rank.output()[next], scratch[r][next], tb(0));
  }
}

// The upstream DSL puts no nop there.
// RIGHT: "name": "cpkt"
// RIGHT-NEXT: "name": "nop"
// RIGHT-NEXT: "name": "ppkt"{{.*}}"src_buff": [{"type": "s", "index": 0, "size": 1}, {"type": "s", "index": 0, "size": 1}]

// TAKEN: proven: 3 ranks

// RACE: port_packets.cpp:[[#@LINE-19]]:12: error: race on packet scratch[0] of rank 0: the write ('copyPackets') by rank 0, block 0 and the read ('putPackets') by rank 0, block 0 are not ordered
// RACE: port_packets.cpp:[[#@LINE-21]]:12: note: the other access: write ('copyPackets') by rank 0, block 0

// NOTHING: port_packets.cpp:[[#@LINE-22]]:12: error: the port sends packet scratch[0] of rank 0 before a packet was written there in this launch; call copyPackets and a nop or a barrier first

// AGAIN: error: launched again, it races on packet scratch[{{.*}}] of rank {{.*}}: the read ('putPackets') by rank {{.*}}, block 0 of one launch and the write ('copyPackets') by rank {{.*}}, block 0 of a later one are not ordered
// AGAIN: note: the port may still read its source

MSCCLC_ALGORITHM void plain() {
  CollectiveProgram program("plain", AllGather(2, 1, false), {.protocol = Protocol::LL});
  Buffer far(1, 1);
  Chunk mine = Rank(0).input()[0];
  PortChannel(1, 0).putPackets(far[0], mine, tb(0));
}
// PLAIN: port_packets.cpp:[[#@LINE-2]]:21: error: a port sends the bytes of the source of 'putPackets' unchanged, so these must be packets in scratch, not a chunk of the input: call copyPackets into scratch first, and end the phase
// PLAIN: port_packets.cpp:[[#@LINE-4]]:32: note: chunk of rank 0 sliced here
