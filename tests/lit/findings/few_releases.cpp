// Two acquires, one release.
// RUN: %verify %s
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void reduce() {
  CollectiveProgram program("few_releases", AllReduce(1, 2, true));
  Semaphore done(0, 0);
  done.release(tb(0));
  done.acquire(tb(1));
  done.acquire(tb(1));
}

// expected-error@-4:8 {{semaphore 0 of rank 0 is acquired 2 times a launch, but released 1 time}}
// expected-note@-6:8 {{released here}}
