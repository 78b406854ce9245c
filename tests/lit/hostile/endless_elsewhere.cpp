// What does not end, in places that are not an algorithm's own loops.
// RUN: %verify --prefix=constructor %s --algorithm constructor --trace-timeout=0.2
// RUN: %verify --prefix=destructor %s --algorithm destructor --trace-timeout=0.2
// RUN: %verify --prefix=destructors %s --algorithm destructors
// RUN: %verify --prefix=lambda %s --algorithm lambda
#include <mscclc/dsl.hpp>

struct Constructor {
  Constructor() {
    // constructor-error@+2:5 {{the algorithm has not ended after 0.2 s}}
    // constructor-note@+24:51 {{called from here}}
    for (;;) {
    }
  }
};
struct Destructor {
  ~Destructor() {
    // destructor-error@+2:5 {{the algorithm has not ended after 0.2 s}}
    // destructor-note@+17:52 {{called from here}}
    for (;;) {
    }
  }
};
struct Destructors {
  int depth = 0;
  ~Destructors() {
    Destructors next;
    next.depth = depth + 1;
    // destructors-error@+4:3 {{endless recursion: calls are nested more than 20000 deep}}
    // destructors-note@+7:54 {{called from here}}
    // destructors-note-re@"" {{({{[0-9]+}} more calls like it)}}
    // destructors-note@+1:3 {{called from here}}
  }
};
MSCCLC_ALGORITHM void constructor() { Constructor c; }
MSCCLC_ALGORITHM void destructor() { Destructor d; }
MSCCLC_ALGORITHM void destructors() { Destructors d; }
MSCCLC_ALGORITHM void lambda() {
  // lambda-error@+4:59 {{endless recursion: calls are nested more than 20000 deep}}
  // lambda-note@+4:21 {{called from here}}
  // lambda-note-re@"" {{({{[0-9]+}} more calls like it)}}
  // lambda-note@+1:59 {{called from here}}
  const auto again = [](const auto &self) -> int { return self(self) + 1; };
  mscclc::Rank rank(again(again));
}
