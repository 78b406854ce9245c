// A custom collective that states no result is proven to be free of races, and of nothing else: a warning says so.
// RUN: mscclc %s --verify > %t.out 2> %t.err
// RUN: FileCheck %s < %t.err
// RUN: FileCheck %s --check-prefix=PROVEN < %t.out
// RUN: mscclc %s -DSTATED --verify 2>&1 | FileCheck %s --check-prefix=STATED --implicit-check-not=warning
// The place goes along with IR; a plan has none, and cannot state anything.
// RUN: mscclc %s --emit-ir -o %t.ir && mscclc %t.ir --verify 2>&1 | FileCheck %s
// RUN: mscclc %s -o %t.json -q && mscclc %t.json --verify 2>&1 | FileCheck %s --check-prefix=PLAN
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void nothing_stated() {
  CustomCollective move("move", 1, 1, 1, false);
#ifdef STATED
  move.expect(0, 0, {{0, 0}});
#endif
  CollectiveProgram program("nothing_stated", move);
  Rank(0).copy(Rank(0).output()[0], Rank(0).input()[0], tb(0));
}

// CHECK: nothing_stated.cpp:[[#@LINE-8]]:20: warning: the custom collective 'move' states no result: 1 output chunk on 1 rank are compared with nothing, so the proof does not show that they are right; in C++, CustomCollective::expect() states one
// PROVEN: nothing_stated: proven: 1 rank, {{.*}}0 output chunks right, nothing stated of 1
// STATED: nothing_stated: proven: 1 rank, {{.*}}1 output chunk right
// PLAN: program 'nothing_stated': warning: the custom collective 'move' states no result: 1 output chunk on 1 rank are compared with nothing, so the proof does not show that they are right [nothing-stated]{{$}}
