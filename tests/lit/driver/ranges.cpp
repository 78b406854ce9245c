// Several values of a parameter: a row for each combination, its findings, the exit code of the worst.
// The broadcast is right for 2, 4 and 6 ranks and wrong for others; its lanes may be 1 or 2 only.
// RUN: sh -c 'mscclc %s --algorithm tree -P ranks=2..6 --verify > %t.table 2> %t.err; echo code=$?' | FileCheck %s --check-prefix=ONE
// RUN: FileCheck %s --check-prefix=TABLE --match-full-lines --strict-whitespace < %t.table
// RUN: FileCheck %s --check-prefix=FINDINGS < %t.err
// RUN: sh -c 'mscclc %s --algorithm tree -P ranks=2..6:2 --verify -q; echo code=$?' 2>&1 | FileCheck %s --check-prefix=EVEN
// Lists and ranges mix; what is there twice is tried once; the first parameter varies slowest.
// RUN: sh -c 'mscclc %s --algorithm tree -P ranks=4,2..4:2,0x6 -P lanes=2,1 --verify; echo code=$?' 2>&1 | FileCheck %s --check-prefix=MIX
// RUN: sh -c 'mscclc %s --algorithm tree -P ranks=4 -P lanes=1..3 --run --schedules 2; echo code=$?' 2>&1 | FileCheck %s --check-prefix=RAN
// One value, written as several, has a table too.
// RUN: mscclc %s --algorithm tree -P ranks=4..4 --verify | FileCheck %s --check-prefix=SINGLE
// From standard input, which is read once.
// RUN: mscclc - -xcpp --algorithm tree -P ranks=2,4 --verify < %s | FileCheck %s --check-prefix=STDIN
#include <mscclc/dsl.hpp>
#include <cassert>
using namespace mscclc;

/// Hands rank 0's chunk from each rank to the one 1, 2, 4, … above it, and forgets the last if that is too far.
MSCCLC_ALGORITHM void tree(int ranks = 2, int lanes = 1) {
  assert(lanes < 3);
  CustomCollective broadcast("broadcast", ranks, lanes, lanes, false);
  for (int r = 0; r < ranks; ++r)
    for (int lane = 0; lane < lanes; ++lane)
      broadcast.expect(r, lane, {{0, lane}});
  CollectiveProgram program("tree", broadcast);
  const int reached = ranks / 2 * 2;
  for (int lane = 0; lane < lanes; ++lane) {
    Rank(0).copy(Rank(0).output()[lane], Rank(0).input()[lane], tb(lane));
    for (int r = 1; r < reached; ++r) {
      MemoryChannel there(r, 0), back(0, r);
      back.signal(tb(lane), {.relaxed = true});
      there.wait(tb(lane), {.relaxed = true});
      there.put(Rank(r).output()[lane], Rank(0).input()[lane], tb(lane));
      there.signal(tb(lane));
      back.wait(tb(lane));
    }
  }
}

// ONE: code=1
//      TABLE:ranks  exit  result
// TABLE-NEXT:2      0     proven: {{.*}}
// TABLE-NEXT:3      1     not proven: 1 error
// TABLE-NEXT:4      0     proven: {{.*}}
// TABLE-NEXT:5      1     not proven: 1 error
// TABLE-NEXT:6      0     proven: {{.*}}
//  TABLE-NOT:{{.}}
// FINDINGS-NOT: ranks=2
// FINDINGS: ranks=3:
// FINDINGS-NEXT: ranges.cpp:21:20: error: output[0] of rank 2 is never written
// FINDINGS: ranks=5:
// FINDINGS-NEXT: ranges.cpp:21:20: error: output[0] of rank 4 is never written
// FINDINGS: 2 of 5 combinations failed.
// EVEN: 2 0 proven
// EVEN-NEXT: 4 0 proven
// EVEN-NEXT: 6 0 proven
// EVEN-NEXT: code=0
// MIX: ranks lanes exit result
// MIX-NEXT: 4 2 0 proven
// MIX-NEXT: 4 1 0 proven
// MIX-NEXT: 2 2 0 proven
// MIX-NEXT: 2 1 0 proven
// MIX-NEXT: 0x6 2 0 proven
// MIX-NEXT: 0x6 1 0 proven
// MIX-NEXT: code=0
// RAN: lanes exit result
// RAN-NEXT: 1 0 f32 right: {{[0-9]+}} sizes, {{[0-9]+}} schedules
// RAN-NEXT: 2 0 f32 right
// RAN-NEXT: 3 1 1 error
// RAN-NEXT: lanes=3:
// RAN-NEXT: ranges.cpp:{{.*}}assert
// RAN: code=1
// SINGLE: ranks exit result
// SINGLE-NEXT: 4 0 proven
// STDIN: 2 0 proven
// STDIN: 4 0 proven
