// A loop without end is found at the loop.
// RUN: %verify %s --trace-timeout=0.5
#include <mscclc/dsl.hpp>

MSCCLC_ALGORITHM void f() {
  unsigned i = 0;
  // expected-error@+1:3 {{the algorithm has not ended after 0.5 s: is a loop endless here?}}
  while (true)
    ++i;
}
