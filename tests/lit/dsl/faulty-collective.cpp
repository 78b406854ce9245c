// A program whose collective is faulty ends the run: how long it takes depends on the numbers that are wrong.
// REQUIRES: frontend
// RUN: %verify %s -P ranks=70000
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void f(int ranks = 2) {
  CollectiveProgram program("f", AllGather(ranks, 1, true)); // expected-error@:34 {{a collective cannot have 70000 ranks: it has 1 to 65536}}
  while (ranks > 2)
    Rank(0).copy(Rank(0).output()[0], Rank(0).input()[0], tb(0));
}
