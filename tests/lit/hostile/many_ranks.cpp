// The same limit for an algorithm.
// RUN: %verify %s -P ranks=65537
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void f(int ranks = 2) {
  // expected-error@+1:34 {{a collective cannot have 65537 ranks: it has 1 to 65536}}
  CollectiveProgram program("p", AllGather(ranks, 1, true));
}
