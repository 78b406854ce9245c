// The source of a port put is written before the port has read it.
// RUN: rm -f %t
// RUN: not mscclc %s -o %t 2>&1 | FileCheck %s
// RUN: test ! -e %t
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void swap() {
  CollectiveProgram program("missing_flush", CustomCollective("swap", 2, 2, 2, false).expect(0, 0, {{1, 0}}).expect(1, 0, {{0, 0}}));
  for (int r = 0; r < 2; ++r) {
    PortChannel channel(1 - r, r);
    channel.signal(tb(0));
    channel.wait(tb(0));
    channel.putWithSignal(Rank(1 - r).output()[0], Rank(r).input()[0], tb(0));
    Rank(r).copy(Rank(r).input()[0], Rank(r).input()[1], tb(0));
    channel.wait(tb(0));
  }
}

// CHECK: missing_flush.cpp:[[#@LINE-5]]:13: error: race on input[0] of rank 1: the read ('putWithSignal') by rank 1, block 0 and the write ('copy') by rank 1, block 0 are not ordered
// CHECK: missing_flush.cpp:[[#@LINE-7]]:13: note: the other access: read ('putWithSignal') by rank 1, block 0
// CHECK: missing_flush.cpp:[[#@LINE-7]]:13: note: the port may still read its source: a flush of the channel after the put (or putWithSignalAndFlush and a barrier) would order them
// CHECK: missing_flush.cpp:[[#@LINE-9]]:13: note: schedule 4: rank 1, block 0 reads input[0] of rank 1 ('putWithSignal') only now
