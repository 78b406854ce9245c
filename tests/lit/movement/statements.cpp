// Statements that cannot be, each at its place.
// RUN: %verify %s --max-errors=0
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void f(int ranks = 4) {
  CollectiveProgram program("p", AllReduce(ranks, 1, true), {.schedule = Schedule::Auto, .ranksPerNode = 2, .blocks = 8});
  const Chunk a = Rank(0).input()[0]; // expected-note@:35 0+ {{chunk of rank 0 sliced here}}
  const Chunk b = Rank(1).input()[0]; // expected-note@:35 0+ {{chunk of rank 1 sliced here}}
  const Chunk c = Rank(2).input()[0]; // expected-note@:35 0+ {{chunk of rank 2 sliced here}}
  const Chunk wide = Rank(1).input().slice(0, 3); // expected-note@:38 0+ {{chunk of rank 1 sliced here}}
  copy(a, wide); // expected-error@:3 {{sizes differ: destination of 1 chunk, source of 3 chunks}}
  copy({b, wide}, a); // expected-error@:3 {{sizes differ: destination of 3 chunks, source of 1 chunk}}
  reduce(a, {b, wide}); // expected-error@:3 {{sizes differ: other chunk of 3 chunks, source of 1 chunk}}
  reduce(a, Chunk(), {b}); // expected-error@:3 {{the source of 'reduce' was never sliced from a buffer}}
  copy(a, b, {.op = ReduceOp::Max}); // expected-error@:3 {{'copy' combines nothing: leave .op out, or write reduce(into, others)}}
  copy(a, b, {.by = ranks}); // expected-error@:3 {{rank 4 in '.by' is out of range: the program's ranks are 0 to 3}}
  copy(a, b, {.by = 2}); // expected-error@:3 {{rank 2 in '.by' holds no chunk of this 'copy': a rank that holds a source or a destination executes it}}
  copy(a, b, {.on = tb(-1)}); // expected-error@:3 {{thread block -1 is out of range: thread blocks are 0 to 4095}}
  copy(a, b, {.on = tb(8)}); // expected-error@:3 {{thread block 8 is out of range: with .blocks = 8 thread blocks are 0 to 7}}
  copy(c, b, {.via = Via::Memory}); // expected-error@:3 {{'.via = Via::Memory' cannot be used between rank 2 and rank 1, which are of different nodes: write Via::Port, or leave it out}}
  copy({a, c}, b, {.via = Via::Switch}); // expected-error@:3 {{'.via = Via::Switch' cannot be used between rank 0 and rank 2, which are of different nodes}}
  reduce(a, b, {a, b}, {.via = Via::Switch}); // expected-error@:3 {{'.via = Via::Switch' cannot be used for a sum of 3: a switch combines in any order, so write .order = Order::Any in the program's options}}
  reduce(a, b, {a, b}, {.via = Via::Switch, .op = ReduceOp::Prod}); // expected-error@:3 {{'.via = Via::Switch' cannot be used for a product of 3}}
  reduce(a, {b}, {.via = Via::Switch, .packets = true}); // expected-error@:3 {{'.packets = true' cannot be used with '.via = Via::Switch': packets do not go through the switch, so leave one of the two out}}
  reduce(a, {b}, {.via = Via::Switch, .by = 1, .packets = false}); // expected-error@:3 {{rank 1 in '.by' cannot execute this with '.via = Via::Switch': rank 0 does, which has the destination, so leave .by out}}
  copy({a, b}, a, {.via = Via::Switch, .by = 1}); // expected-error@:3 {{rank 1 in '.by' cannot execute this with '.via = Via::Switch': rank 0 does, which has the source, so leave .by out}}
}
