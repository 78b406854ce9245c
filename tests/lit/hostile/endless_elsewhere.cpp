// What does not end, in places that are not an algorithm's own loops.
// RUN: rm -f %t
// RUN: not mscclc %s --algorithm constructor --trace-timeout=0.2 -o %t 2>&1 | FileCheck %s --check-prefix=CHECK-CONSTRUCTOR
// RUN: not mscclc %s --algorithm destructor --trace-timeout=0.2 -o %t 2>&1 | FileCheck %s --check-prefix=CHECK-DESTRUCTOR
// RUN: not mscclc %s --algorithm destructors -o %t 2>&1 | FileCheck %s --check-prefix=CHECK-DESTRUCTORS
// RUN: not mscclc %s --algorithm lambda -o %t 2>&1 | FileCheck %s --check-prefix=CHECK-LAMBDA
// RUN: test ! -e %t
#include <mscclc/dsl.hpp>

struct Constructor {
  Constructor() {
    // CHECK-CONSTRUCTOR: endless_elsewhere.cpp:[[#@LINE+1]]:5: error: the algorithm has not ended after 0.2 s
    for (;;) {
    }
  }
};
struct Destructor {
  ~Destructor() {
    // CHECK-DESTRUCTOR: endless_elsewhere.cpp:[[#@LINE+1]]:5: error: the algorithm has not ended after 0.2 s
    for (;;) {
    }
  }
};
struct Destructors {
  int depth = 0;
  ~Destructors() {
    Destructors next;
    next.depth = depth + 1;
    // CHECK-DESTRUCTORS: endless_elsewhere.cpp:[[#@LINE+1]]:3: error: endless recursion: calls are nested more than 20000 deep
  }
};
MSCCLC_ALGORITHM void constructor() { Constructor c; }
MSCCLC_ALGORITHM void destructor() { Destructor d; }
MSCCLC_ALGORITHM void destructors() { Destructors d; }
MSCCLC_ALGORITHM void lambda() {
  // CHECK-LAMBDA: endless_elsewhere.cpp:[[#@LINE+1]]:59: error: endless recursion: calls are nested more than 20000 deep
  const auto again = [](const auto &self) -> int { return self(self) + 1; };
  mscclc::Rank rank(again(again));
}
