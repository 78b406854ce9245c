// Calls in a macro stand where its name does, however far its arguments go; those beside it where they are.
// RUN: not mscclc %s -o %t 2>&1 | FileCheck %s --implicit-check-not=error:
#include <mscclc/dsl.hpp>
using namespace mscclc;
#define PUT(c, d, s) c.put(d, s, tb(0))
#define TWICE(a, b) \
  a;                \
  b
#define RANK Rank(7)
#define NOTHING()

MSCCLC_ALGORITHM void f(int ranks = 2) {
  CollectiveProgram program("f", AllReduce(ranks, 1, true));
  MemoryChannel c(1, 0);
  // CHECK: macro_places.cpp:[[#@LINE+2]]:7: error: the source is a chunk of rank 1, but the channel belongs to rank 0
  // CHECK: macro_places.cpp:[[#@LINE+1]]:7: note: chunk of rank 1 sliced here
      PUT(c, Rank(1).output()[0], Rank(1).input()[0]);
  // CHECK: macro_places.cpp:[[#@LINE+2]]:3: error: rank 5 is out of range
  // CHECK: note: and 1 more like it
  TWICE(Rank(5),
        NOTHING() TWICE(Rank(6), ));
  // CHECK: macro_places.cpp:[[#@LINE+1]]:3: error: rank 7 is out of range
  RANK;
  // CHECK: macro_places.cpp:[[#@LINE+1]]:13: error: rank 8 is out of range
  NOTHING() Rank(8);
  // CHECK: elsewhere.cpp:100:5: error: rank 9 is out of range
#line 100 "elsewhere.cpp"
    TWICE(, Rank(9));
}
