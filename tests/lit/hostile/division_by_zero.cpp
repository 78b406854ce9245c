// Division by zero, two calls deep.
// RUN: %verify %s
#include <mscclc/dsl.hpp>

// expected-error@+3:16 {{division by zero: the dividend is 8}}
// expected-note@+5:3 {{called from here}}
constexpr int share(int total, int parts) {
  return total / parts;
}
MSCCLC_ALGORITHM void f(int ranks = 8, int nodes = 0) {
  share(ranks, nodes);
}
