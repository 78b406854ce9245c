// A function without its return statement.
// RUN: %verify %s
#include <mscclc/dsl.hpp>

// expected-error@+3:5 {{a function that returns a value ends without a return statement}}
// expected-note@+6:29 {{called from here}}
// expected-warning@+4:1 {{non-void function does not return a value}}
int pick(int x) {
  if (x > 2)
    return 1;
}
MSCCLC_ALGORITHM void f() { pick(1); }
