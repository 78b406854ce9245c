// A vector's index past its end is an error at the index, with the chain of calls.
// RUN: %verify %s
#include <mscclc/dsl.hpp>
#include <vector>

static int pick(const std::vector<int> &values, unsigned at) {
  // expected-error@+2:10 {{index past the end: the standard library's check '__n < this->size()' failed}}
  // expected-note@+6:3 {{called from here}}
  return values[at];
}

MSCCLC_ALGORITHM void f() {
  const std::vector<int> values = {1, 2, 3};
  pick(values, 3);
}
