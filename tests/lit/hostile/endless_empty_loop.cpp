// A loop that does nothing at all is not optimised away.
// RUN: %verify %s --trace-timeout=0.5
#include <mscclc/dsl.hpp>

MSCCLC_ALGORITHM void f() {
  // expected-error@+1:3 {{the algorithm has not ended after 0.5 s}}
  for (;;)
    ;
}
