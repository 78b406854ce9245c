// A program of operations leaves nothing to choose, and takes no statements.
// RUN: %verify %s
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void f(int ranks = 2) {
  // expected-error@+1:21 {{'.instances = automatic', '.protocol = Protocol::Auto', '.blocks' cannot be used in a program of Schedule::Manual: begin the program with .schedule = Schedule::Auto, or write a number of instances, write Protocol::Simple or Protocol::LL, leave .blocks out}}
  CollectiveProgram program("p", AllReduce(ranks, 1, true), {.instances = automatic, .protocol = Protocol::Auto, .blocks = 2});
  const Chunk near = Rank(0).input()[0], far = Rank(1).input()[0];
  copy(near, far); // expected-error@:3 {{the movement statement 'copy' cannot be used in a program of Schedule::Manual: name the thread block that executes it, or begin the program with .schedule = Schedule::Auto}}
  reduce(near, {far}, {.by = 0}); // expected-error@:3 {{the movement statement 'reduce' cannot be used in a program of Schedule::Manual}}
}
