// A loop that has no end of notes.
// RUN: mscclc %s --emit-ir -o %t 2> %t.err
// RUN: grep -c "note: step" %t.err | FileCheck %s --check-prefix=COUNT
// RUN: FileCheck %s < %t.err
#include <mscclc/dsl.hpp>
using namespace mscclc;

// COUNT: {{^}}1000
MSCCLC_ALGORITHM void notes() {
  // CHECK: many_notes.cpp:[[#@LINE+2]]:21: note: only the first 1000 notes of an algorithm are shown, and it makes more
  // CHECK-NEXT: CollectiveProgram
  CollectiveProgram program("notes", AllReduce(2, 2, true));
  for (int step = 0; step < 5000; ++step)
    note("step {}", step);
  for (int at = 0; at < 2; ++at)
    Rank(at).copy(Rank(at).output()[0], Rank(at).input()[1], tb(0));
}
