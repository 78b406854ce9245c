// Programs that are right by the order of one thread stay right when they are fused: proven, and run in many schedules.
// REQUIRES: frontend
// RUN: mscclc %s --algorithm two_messages -O1 --verify | FileCheck %s --check-prefix=PROVEN
// RUN: mscclc %s --algorithm two_messages -O2 --verify | FileCheck %s --check-prefix=PROVEN
// RUN: mscclc --run %s --algorithm two_messages -O1 --schedules 2000 | FileCheck %s
// RUN: mscclc --run %s --algorithm two_messages -O2 --schedules 2000 | FileCheck %s
// RUN: mscclc %s --algorithm told_in_another_order -O1 --verify | FileCheck %s --check-prefix=PROVEN
// RUN: mscclc %s --algorithm told_in_another_order -O2 --verify | FileCheck %s --check-prefix=PROVEN
// RUN: mscclc --run %s --algorithm told_in_another_order -O1 --schedules 2000 | FileCheck %s
// RUN: mscclc --run %s --algorithm told_in_another_order -O2 --schedules 2000 | FileCheck %s
// RUN: mscclc %s --algorithm relaxed_behind -O1 --verify | FileCheck %s --check-prefix=PROVEN
// RUN: mscclc %s --algorithm relaxed_behind -O2 --verify | FileCheck %s --check-prefix=PROVEN
// RUN: mscclc --run %s --algorithm relaxed_behind -O1 --schedules 2000 | FileCheck %s
// RUN: mscclc --run %s --algorithm relaxed_behind -O2 --schedules 2000 | FileCheck %s
// PROVEN: {{: proven: [23] ranks}}
// CHECK: {{size +schedules +max error +ok}}
// CHECK-NEXT: {{^ +[0-9]+ +2000 +0 +yes$}}
#include <mscclc/dsl.hpp>
using namespace mscclc;

/// Two messages through one channel: the peer reads each once it has been told of it.
MSCCLC_ALGORITHM void two_messages() {
  CollectiveProgram program("two_messages", CustomCollective("move", 2, 2, 2, false).expect(1, 0, {{0, 0}}).expect(1, 1, {{0, 1}}));
  PortChannel there(1, 0), back(0, 1);
  Buffer scratch(1, 2);
  back.signal(tb(0));
  there.wait(tb(0));
  there.putWithSignalAndFlush(scratch[0], Rank(0).input()[0], tb(0));
  there.putWithSignalAndFlush(scratch[1], Rank(0).input()[1], tb(0));
  back.wait(tb(0));
  Rank(1).copy(Rank(1).output()[0], scratch[0], tb(0));
  back.wait(tb(0));
  Rank(1).copy(Rank(1).output()[1], scratch[1], tb(0));
}

/// Puts to peers in one order, told in another.
MSCCLC_ALGORITHM void told_in_another_order() {
  CollectiveProgram program("told", CustomCollective("spread", 3, 2, 2, false)
                                        .expect(1, 0, {{0, 0}}).expect(1, 1, {{0, 1}}).expect(2, 0, {{0, 0}}).expect(2, 1, {{0, 1}}));
  PortChannel to1(1, 0), to2(2, 0), from1(0, 1), from2(0, 2);
  Chunk first = Rank(0).input()[0], second = Rank(0).input()[1];
  from1.signal(tb(0));
  from2.signal(tb(0));
  to1.wait(tb(0));
  to2.wait(tb(0));
  to2.put(Rank(2).output()[0], first, tb(0));
  to1.put(Rank(1).output()[0], first, tb(0));
  to1.putWithSignalAndFlush(Rank(1).output()[1], second, tb(0));
  to2.putWithSignalAndFlush(Rank(2).output()[1], second, tb(0));
  from1.wait(tb(0));
  from2.wait(tb(0));
}

/// A signal that tells of data, and one that tells only of a beginning.
MSCCLC_ALGORITHM void relaxed_behind() {
  CollectiveProgram program("relaxed_behind", CustomCollective("move", 2, 1, 1, false).expect(1, 0, {{0, 0}}));
  MemoryChannel other(1, 0), there(1, 0), otherBack(0, 1), back(0, 1);
  back.signal(tb(0), {.relaxed = true});
  there.wait(tb(0), {.sync = Sync::After, .relaxed = true});
  there.put(Rank(1).output()[0], Rank(0).input()[0], tb(0));
  other.signal(tb(0), {.sync = Sync::Before});
  there.signal(tb(0), {.sync = Sync::None});
  there.signal(tb(0), {.sync = Sync::None, .relaxed = true});
  otherBack.wait(tb(0), {.sync = Sync::None, .relaxed = true});
  back.wait(tb(0), {.sync = Sync::After});
  back.wait(tb(0), {.sync = Sync::None, .relaxed = true});
}
