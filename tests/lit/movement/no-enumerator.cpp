// Numbers that are no enumerator, cast to the type of an option.
// RUN: %verify %s
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void casts() {
  CollectiveProgram program("casts", TestCollective(2, 1, 1), {.schedule = Schedule::Auto});
  // expected-error@+1:3 {{'reduce' is given an .op that is none of ReduceOp::Sum, ReduceOp::Min, ReduceOp::Max and ReduceOp::Prod}}
  reduce(Rank(0).input()[0], {Rank(1).input()[0]}, {.op = static_cast<ReduceOp>(4)});
  // expected-error@+1:3 {{'copy' is given a .via that is none of Via::Auto, Via::Memory, Via::Port and Via::Switch}}
  copy(Rank(0).output()[0], Rank(0).input()[0], {.via = static_cast<Via>(4)});
}
