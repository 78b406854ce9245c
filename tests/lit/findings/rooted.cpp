// Of each collective with a root a right algorithm, and a wrong twin that the proof refuses and the simulator sees.
// RUN: mscclc %s --algorithm broadcast --verify | FileCheck %s --check-prefix=BROADCAST
// RUN: not mscclc %s --algorithm broadcast -P wrong=true --verify 2>&1 | FileCheck %s --check-prefix=NO-BROADCAST
// RUN: mscclc %s --algorithm reduce --verify | FileCheck %s --check-prefix=REDUCE
// RUN: not mscclc %s --algorithm reduce -P wrong=true --verify 2>&1 | FileCheck %s --check-prefix=NO-REDUCE
// RUN: mscclc %s --algorithm gather --verify | FileCheck %s --check-prefix=GATHER
// RUN: not mscclc %s --algorithm gather -P wrong=true --verify 2>&1 | FileCheck %s --check-prefix=NO-GATHER
// RUN: mscclc %s --algorithm scatter --verify | FileCheck %s --check-prefix=SCATTER
// RUN: not mscclc %s --algorithm scatter -P wrong=true --verify 2>&1 | FileCheck %s --check-prefix=NO-SCATTER
//
// The root goes along with IR and with a plan. A plan that has lost it is one of a custom collective.
// RUN: mscclc %s --algorithm gather --emit-ir -o %t.ir && FileCheck %s --check-prefix=IR < %t.ir
// RUN: mscclc %t.ir --verify | FileCheck %s --check-prefix=GATHER
// RUN: mscclc %s --algorithm gather -o %t.json && FileCheck %s --check-prefix=PLAN < %t.json
// RUN: mscclc %t.json --verify | FileCheck %s --check-prefix=GATHER
// RUN: mscclc %t.json --diff %t.json
// RUN: sed 's/"root": 1/"root": 2/' %t.json > %t.other.json && not mscclc %t.json --diff %t.other.json 2>&1 | FileCheck %s --check-prefix=DIFF
// RUN: not mscclc %t.other.json --verify 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: sed '/"root"/d' %t.json > %t.free.json && mscclc %t.free.json --verify 2>&1 | FileCheck %s --check-prefix=FREE
//
// RUN: mscclc --run %s --algorithm broadcast --schedules 5 | FileCheck %s --check-prefix=RIGHT
// RUN: mscclc --run %s --algorithm reduce --schedules 5 | FileCheck %s --check-prefix=RIGHT
// RUN: mscclc --run %t.json --schedules 5 | FileCheck %s --check-prefix=RIGHT
// RUN: mscclc --run %s --algorithm scatter --schedules 5 | FileCheck %s --check-prefix=RIGHT
// RUN: not mscclc --run %s --algorithm broadcast -P wrong=true --no-verify --schedules 5 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: not mscclc --run %s --algorithm reduce -P wrong=true --no-verify --schedules 5 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: not mscclc --run %t.other.json --no-verify --schedules 5 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: not mscclc --run %s --algorithm scatter -P wrong=true --no-verify --schedules 5 2>&1 | FileCheck %s --check-prefix=WRONG
// Nothing is compared, so nothing is said to be right.
// RUN: mscclc --run %t.free.json --schedules 5 | FileCheck %s --check-prefix=RAN
#include <mscclc/dsl.hpp>
using namespace mscclc;

constexpr int ranks = 3, root = 1;

/// Puts `src` of rank `from` into `dst` of rank `to`, once that has started its launch.
void send(int to, int from, Chunk dst, Chunk src) {
  MemoryChannel forth(to, from), back(from, to);
  back.signal(tb(0), {.sync = Sync::None, .relaxed = true});
  forth.wait(tb(0), {.sync = Sync::After, .relaxed = true});
  forth.put(dst, src, tb(0));
  forth.signal(tb(0), {.sync = Sync::Before});
  back.wait(tb(0), {.sync = Sync::After});
}

MSCCLC_ALGORITHM void broadcast(bool wrong = false) {
  CollectiveProgram program("broadcast", Broadcast(ranks, 1, root, false));
  copy(Rank(root).output()[0], Rank(root).input()[0], tb(0));
  send(0, root, Rank(0).output()[0], Rank(root).input()[0]);
  const int from = wrong ? 0 : root;
  send(2, from, Rank(2).output()[0], Rank(from).input()[0]);
}
// BROADCAST: broadcast: proven: 3 ranks, {{.*}}3 output chunks right
// NO-BROADCAST: error: output[0] of rank 2 ends with input[0] of rank 0 in it, which does not belong there

MSCCLC_ALGORITHM void reduce(bool wrong = false) {
  CollectiveProgram program("reduce", Reduce(ranks, 1, root, false));
  // What ends in the outputs of the others is of no account.
  send(0, 2, Rank(0).output()[0], Rank(2).input()[0]);
  if (!wrong)
    Rank(0).reduce(Rank(0).output()[0], {Rank(0).input()[0]}, tb(0));
  send(root, 0, Rank(root).output()[0], Rank(0).output()[0]);
  Rank(root).reduce(Rank(root).output()[0], {Rank(root).input()[0]}, tb(0));
}
// REDUCE: reduce: proven: 3 ranks, {{.*}}1 output chunk right
// NO-REDUCE: [[#@LINE-3]]:14: error: output[0] of rank 1 ends without input[0] of rank 0

MSCCLC_ALGORITHM void gather(bool wrong = false) {
  CollectiveProgram program("gather", Gather(ranks, 1, root, true));
  send(root, 0, Rank(root).output()[wrong ? 2 : 0], Rank(0).input()[0]);
  send(root, 2, Rank(root).output()[wrong ? 0 : 2], Rank(2).input()[0]);
}
// GATHER: gather: proven: 3 ranks, {{.*}}3 output chunks right
// NO-GATHER: error: output[0] of rank 1 ends with input[0] of rank 2 in it, which does not belong there
// IR: collective gather root 1 inplace
// PLAN: "inplace": true,
// PLAN-NEXT: "root": 1,
// PLAN-NEXT: "reuse_resources": false,
// DIFF: root is 1, but 2 in
// OTHER: error: output[0] of rank 2
// FREE: warning: 'gather' is read as a custom collective that states no result: its 9 output chunks on 3 ranks are not compared with anything; write 'gather' and its root if that is intended

MSCCLC_ALGORITHM void scatter(bool wrong = false) {
  CollectiveProgram program("scatter", Scatter(ranks, 1, root, true));
  send(0, root, Rank(0).output()[0], Rank(root).input()[0]);
  send(2, root, Rank(2).output()[0], Rank(root).input()[wrong ? 1 : 2]);
}
// SCATTER: scatter: proven: 3 ranks, {{.*}}3 output chunks right
// NO-SCATTER: error: output[0] of rank 2 ends with input[1] of rank 1 in it, which does not belong there

// RIGHT: {{^ +[0-9]+ +5 +0 +yes$}}
// WRONG: {{^ +[0-9]+ +1 +.* no$}}
// RAN: {{^ +[0-9]+ +5 +0 +ran$}}
// RAN-NOT: yes
