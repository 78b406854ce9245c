// Two acquires, one release.
// RUN: rm -f %t
// RUN: not mscclc %s -o %t 2>&1 | FileCheck %s
// RUN: test ! -e %t
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void reduce() {
  CollectiveProgram program("few_releases", AllReduce(1, 2, true));
  Semaphore done(0, 0);
  done.release(tb(0));
  done.acquire(tb(1));
  done.acquire(tb(1));
}

// CHECK: few_releases.cpp:[[#@LINE-4]]:8: error: semaphore 0 of rank 0 is acquired 2 times a launch, but released 1 time
// CHECK: few_releases.cpp:[[#@LINE-6]]:8: note: released here
