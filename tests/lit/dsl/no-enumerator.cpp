// A number that is no reduction, and has more bits than one.
// RUN: %verify %s
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void casts() {
  CollectiveProgram program("casts", TestCollective(2, 1, 1));
  MemoryChannel channel(1, 0);
  // expected-error@+1:11 {{'reduce' is given an .op that is none of ReduceOp::Sum, ReduceOp::Min, ReduceOp::Max and ReduceOp::Prod}}
  channel.reduce(Rank(0).output()[0], {Rank(1).input()[0]}, tb(0), {.op = static_cast<ReduceOp>(20)});
}
