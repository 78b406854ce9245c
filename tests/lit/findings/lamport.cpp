// Lamport packets have no flags: what they carry, who clears them, and what they do not go with.
// RUN: mscclc %s --algorithm sum --verify | FileCheck %s --check-prefix=SUM
// RUN: mscclc %s --algorithm sum -P protocol=LL --verify | FileCheck %s --check-prefix=FLAGS
// RUN: mscclc %s --algorithm sum --run --size 4608 --dtype f32,f16,i32 --schedules 5
// RUN: mscclc %s --algorithm sum --emit-cuda -o - | FileCheck %s --check-prefix=KERNEL
// RUN: mscclc %s --algorithm sum --target=none --explain | FileCheck %s --check-prefix=EXPLAIN
// RUN: mscclc %s --algorithm sum --target=none --emit-ir -o %t.ir && mscclc %t.ir --verify | FileCheck %s --check-prefix=SUM
// RUN: sed /double_scratch/d %t.ir > %t.one.ir && not mscclc %t.one.ir --verify 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: not mscclc %s --algorithm sum --target=none -o - 2>&1 | FileCheck %s --check-prefix=PLAN
// RUN: not mscclc %s --algorithm sum --emit-cuda --dtype f32,i32 -o - 2>&1 | FileCheck %s --check-prefix=INTEGERS
// RUN: not mscclc %s --algorithm one_way --verify 2>&1 | FileCheck %s --check-prefix=WAY
// RUN: mscclc %s --algorithm one_way -P byHand=false --verify
// RUN: not mscclc %s --algorithm moved --verify 2>&1 | FileCheck %s --check-prefix=MOVED
// RUN: not mscclc %s --algorithm moved --no-verify --emit-cuda -o - 2>&1 | FileCheck %s --check-prefix=UNTYPED
// RUN: not mscclc %s --algorithm by_hand -P plain=true --verify 2>&1 | FileCheck %s --check-prefix=PLAIN
// RUN: not mscclc %s --algorithm by_hand -P port=true --verify 2>&1 | FileCheck %s --check-prefix=PORT
// RUN: mscclc %s --algorithm by_hand --verify
// RUN: mscclc %s --algorithm scaled --verify
// RUN: not mscclc %s --algorithm scaled -P early=true --verify 2>&1 | FileCheck %s --check-prefix=EARLY
// RUN: mscclc %s --algorithm scaled -P early=true -P protocol=LL --verify
// RUN: not mscclc %s --algorithm tree --verify 2>&1 | FileCheck %s --check-prefix=TREE --implicit-check-not=double_scratch
// RUN: mscclc %s --algorithm tree -P ranks=1,3 --verify
// RUN: mscclc %s --algorithm tree -P protocol=LL --explain | FileCheck %s --check-prefix=NONE
#include <mscclc/dsl.hpp>
using namespace mscclc;

/// AllReduce in one hop.
MSCCLC_ALGORITHM void sum(Protocol protocol = Protocol::Lamport) {
  constexpr int ranks = 3;
  CollectiveProgram program("sum", AllReduce(ranks, 1, false),
                            {.protocol = protocol, .schedule = Schedule::Auto, .order = Order::Ranks});
  for (int rank = 0; rank < ranks; ++rank)
    reduce(Rank(rank).output().slice(0, ranks), Rank(0).input().slice(0, ranks),
           {Rank(1).input().slice(0, ranks), Rank(2).input().slice(0, ranks)});
}

// SUM: proven: 3 ranks
// SUM: sums: (0+1)+2 everywhere, narrowed once, with -0.0 as +0.0
// FLAGS: sums: (0+1)+2 everywhere, narrowed once{{$}}

// KERNEL: // Sums: (0+1)+2 with -0.0 as +0.0
// KERNEL: #define MSCCLC_DTYPES float, Half, Bfloat16
// KERNEL: #define MSCCLC_PACKETS Lamport
// KERNEL: lamportPackets = true

// EXPLAIN: packets without flags, whose data shows that it has come, with -0.0 as +0.0

// ONE: error: launches with Lamport packets use parts of scratch in turn, and the program does not say so (double_scratch)

// PLAN: lamport.cpp:[[#@LINE-20]]:{{[0-9]+}}: error: MSCCL++'s executor has packets with flags only, so a plan cannot have Protocol::Lamport; --emit-cuda makes a kernel of it, and Protocol::LL has flags

// INTEGERS: error: Lamport packets carry sums of floats alone, and this kernel has elements of type i32, which must stay exact: use Protocol::LL for it

/// Rank 1 sends its part to rank 0, and hears nothing of it, but for what the compiler adds to movement statements.
MSCCLC_ALGORITHM void one_way(bool byHand = true) {
  CollectiveProgram program("one_way", Reduce(2, 1, 0, false),
                            {.protocol = Protocol::Lamport, .schedule = byHand ? Schedule::Manual : Schedule::Auto});
  Chunk sum = Rank(0).output()[0], first = Rank(0).input()[0], second = Rank(1).input()[0];
  if (!byHand)
    return reduce(sum, first, {second});
  const Buffer scratch(0, 1);
  MemoryChannel there(0, 1);
  there.putPackets(scratch[0], second, tb(0));
  Rank(0).copy(sum, first, tb(0));
  Rank(0).reduce(sum, {scratch[0]}, tb(0), {.packet = true});
}

// WAY: lamport.cpp:[[#@LINE-5]]:9: error: rank 1, block 0 may write packet scratch[0] of rank 0 before rank 0 has cleared it of Lamport packets of an earlier launch: nothing shows rank 1, in each launch, that rank 0 has begun it; let rank 0 send packets or a signal back

MSCCLC_ALGORITHM void moved() {
  CollectiveProgram program("moved", AllGather(2, 1, false),
                            {.protocol = Protocol::Lamport, .schedule = Schedule::Auto});
  for (int rank = 0; rank < 2; ++rank)
    for (int other = 0; other < 2; ++other)
      copy(Rank(other).output()[rank], Rank(rank).input()[0]);
}

// MOVED: lamport.cpp:[[#@LINE-3]]:{{[0-9]+}}: error: output[1] of rank 0 ends with +0.0 where input[0] of rank 1 is -0.0, as Lamport packets carry sums alone; let what is only moved travel with Protocol::LL

// UNTYPED: error: Lamport packets carry sums of floats alone, and this kernel has data that it only moves, which must stay exact: use Protocol::LL for it

/// Two ranks exchange their inputs, and each sums.
MSCCLC_ALGORITHM void by_hand(bool plain = false, bool port = false) {
  CollectiveProgram program("by_hand", AllReduce(2, 1, true), {.protocol = Protocol::Lamport});
  const Buffer scratch[] = {Buffer(0, 6), Buffer(1, 6)};
  for (int r = 0; r < 2; ++r) {
    Rank rank(r);
    Chunk mine = rank.input().slice(0, 2), slot = scratch[1 - r].slice(0, 2);
    if (port) {
      rank.copyPackets(scratch[r].slice(2, 4), mine, tb(0));
      PortChannel(1 - r, r).putPackets(slot, scratch[r].slice(2, 4), tb(0));
    } else {
      MemoryChannel(1 - r, r).putPackets(slot, mine, tb(0));
    }
    if (plain)
      rank.copy(scratch[r][4], rank.input()[0], tb(0));
    rank.reduce(mine, {scratch[r].slice(0, 2)}, tb(0), {.packet = true});
  }
}

// PLAIN: lamport.cpp:[[#@LINE-5]]:{{[0-9]+}}: error: copy accesses plain data in scratch, where Lamport packets are cleared in turn: keep it in the output, or use Protocol::LL
// PORT: lamport.cpp:[[#@LINE-11]]:{{[0-9]+}}: error: Lamport packets go through memory channels alone, and putPackets sends them through a port; Protocol::LL has packets for that

/// A function of the sum, after it was sent or before.
MSCCLC_ALGORITHM void scaled(bool early = false, Protocol protocol = Protocol::Lamport) {
  CollectiveProgram program("scaled", AllReduce(2, 1, true).then("scale"),
                            {.protocol = protocol, .schedule = Schedule::Auto});
  Hook scale("scale", {.reads = {"factor"}, .equal = {"factor"}});
  for (int rank = 0; rank < 2; ++rank) {
    Chunk mine = Rank(rank).input()[rank], other = Rank(1 - rank).input()[rank];
    reduce(mine, {other});
    if (early)
      apply(scale, mine);
    copy(other, mine);
    if (!early)
      for (Chunk place : {mine, other})
        apply(scale, place);
  }
}

// EARLY: lamport.cpp:[[#@LINE-7]]:5: error: output[1] of rank 0 ends with +0.0 where hook 'scale' makes -0.0, as Lamport packets carry sums alone: let each rank apply the hook to the sum that it receives, or use Protocol::LL [result-hook-zeroed]

/// Its partial sums have no place but scratch.
MSCCLC_ALGORITHM void tree(int ranks = 4, Protocol protocol = Protocol::Lamport) {
  CollectiveProgram program("tree", AllReduce(ranks, 1, true),
                            {.protocol = protocol, .schedule = Schedule::Auto, .order = Order::Tree});
  for (int rank = 0; rank < ranks; ++rank) {
    List<Chunk> others;
    for (int step = 1; step < ranks; ++step)
      others.push_back(Rank((rank + step) % ranks).input()[rank]);
    reduce(Rank(rank).input()[rank], others);
    copy(others, Rank(rank).input()[rank]);
  }
}

// TREE: lamport.cpp:[[#@LINE-5]]:5: error: the data from rank {{[0-9]}} to rank {{[0-9]}} cannot travel in Lamport packets: rank {{[0-9]}} keeps plain data in scratch, and no rank has both there; Protocol::LL sends it as plain data then [lamport-not-taken]

// NONE: protocol: plain data, because no rank can receive packets; the program leaves no choice
