// A library that takes a Place and hands it on has its errors and notes at the lines of its callers, with no word of
// its own lines; the calls around those are told as ever.
// RUN: not mscclc %s -o %t 2>&1 | FileCheck %s --implicit-check-not=relay.hpp --implicit-check-not="error:"
#include "Inputs/relay.hpp"
using namespace mscclc;

static void outer(const Relay &relay) {
  // CHECK: place.cpp:[[#@LINE+2]]:9: error: slice 2:3 is out of range: rank 0's output has 2 chunks
  // CHECK: place.cpp:[[#OUTER:]]:3: note: called from here
  relay.send(2);
}

MSCCLC_ALGORITHM void place(int ranks = 2) {
  CollectiveProgram program("place", AllReduce(ranks, 1, true));
  const Relay relay{MemoryChannel(1, 0)};
  outer(relay);
  // CHECK: place.cpp:[[#@LINE+3]]:3: note: sends chunk 0
  // CHECK: place.cpp:[[#@LINE+2]]:3: note: sends chunk 2
  // CHECK: place.cpp:[[#@LINE+1]]:3: error: slice 2:3 is out of range
  sendBoth(relay);
}
