// A plain array's bounds.
// RUN: %verify %s
#include <mscclc/dsl.hpp>

MSCCLC_ALGORITHM void f(int at = 4) {
  int values[4] = {};
  // expected-error@+1:3 {{index 4 is out of bounds for type 'int[4]'}}
  values[at] = 1;
}
