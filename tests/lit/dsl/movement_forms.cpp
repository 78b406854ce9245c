// Each form of a movement statement, and beside them the calls of the same names that execute in a thread block, with the
// standard library's algorithms of these names in sight.
// RUN: mscclc %s --algorithm statements --emit-ir --passes= | FileCheck %s --check-prefix=AUTO
// RUN: mscclc %s --algorithm operations --emit-ir -O0 --target=none | FileCheck %s --check-prefix=MANUAL
#include <algorithm>
#include <array>
#include <mscclc/dsl.hpp>
#include <numeric>
#include <vector>
using namespace std;
using namespace mscclc;

MSCCLC_ALGORITHM void statements(int ranks = 4) {
  CollectiveProgram program("statements", AllReduce(ranks, 1, true),
                            {.instances = automatic,
                             .protocol = Protocol::Auto,
                             .schedule = Schedule::Auto,
                             .ranksPerNode = ranks / 2,
                             .blocks = 8,
                             .order = Order::Any});
  // AUTO: schedule auto
  // AUTO-NEXT: ranks_per_node 2
  // AUTO-NEXT: most_blocks 8
  // AUTO-NEXT: order any
  // AUTO-NEXT: choose_protocol on
  // AUTO-NEXT: choose_instances on
  // AUTO: move {
  const Chunk a = Rank(0).input()[0], b = Rank(1).input()[0], c = Rank(2).input()[0], d = Rank(3).input()[0];
  const std::vector<Chunk> vector{b, c};
  const std::array<Chunk, 2> array{c, d};
  const Chunk plain[] = {c, b};
  const List<Chunk> list{a, d};
  const MoveOptions options{.op = ReduceOp::Max};
  // AUTO-NEXT: copy 0.input[0:1] <- 1.input[0:1] @
  copy(a, b);
  // AUTO-NEXT: copy 2.input[0:1] <- 1.input[0:1] via port by 1 block 3 packets on @
  copy(c, b, {.via = Via::Port, .by = 1, .on = tb(3), .packets = true});
  // AUTO-NEXT: copy 0.input[0:1] <- 1.input[0:1] packets off @
  copy(a, b, {.packets = false});
  // AUTO-NEXT: copy 0.input[0:1] <- 1.input[0:1] @
  copy(a, b, {.by = automatic, .on = automatic, .packets = automatic});
  // AUTO-NEXT: copy 0.input[0:1], 1.input[0:1] <- 2.input[0:1] @
  copy({a, b}, c);
  // AUTO-NEXT: copy 0.input[0:1] <- 2.input[0:1] @
  copy({a}, c);
  // AUTO-NEXT: copy 0.input[0:1], 1.input[0:1] <- 0.input[0:1] via switch @
  copy({a, b}, a, {.via = Via::Switch});
  // AUTO-NEXT: copy 1.input[0:1], 2.input[0:1] <- 0.input[0:1] @
  copy(vector, a);
  // AUTO-NEXT: copy 2.input[0:1], 3.input[0:1] <- 0.input[0:1] @
  copy(array, a);
  // AUTO-NEXT: copy 2.input[0:1], 1.input[0:1] <- 0.input[0:1] @
  copy(plain, a);
  // AUTO-NEXT: copy 0.input[0:1], 3.input[0:1] <- 1.input[0:1] by 1 @
  copy(list, b, {.by = 1});
  // AUTO-NEXT: reduce 0.input[0:1] <- 0.input[0:1], 1.input[0:1], 2.input[0:1] @
  reduce(a, {b, c});
  // AUTO-NEXT: reduce 0.input[0:1] <- 0.input[0:1], 1.input[0:1] reduce_op max @
  reduce(a, {b}, {.op = ReduceOp::Max});
  // AUTO-NEXT: reduce 0.input[0:1] <- 0.input[0:1], 1.input[0:1] reduce_op max @
  reduce(a, {b}, options);
  // AUTO-NEXT: reduce 0.input[0:1] <- 0.input[0:1], 1.input[0:1], 2.input[0:1] @
  reduce(a, vector);
  // AUTO-NEXT: reduce 0.input[0:1] <- 0.input[0:1], 0.input[0:1], 3.input[0:1] reduce_op max @
  reduce(a, list, options);
  // AUTO-NEXT: reduce 0.input[0:1] <- 1.input[0:1], 2.input[0:1], 3.input[0:1] @
  reduce(a, b, {c, d});
  // AUTO-NEXT: reduce 0.input[0:1] <- 1.input[0:1], 2.input[0:1] reduce_op min @
  reduce(a, b, {c}, {.op = ReduceOp::Min});
  // AUTO-NEXT: reduce 0.input[0:1] <- 1.input[0:1], 1.input[0:1], 2.input[0:1] @
  reduce(a, b, vector);
  // AUTO-NEXT: reduce 0.input[0:1] <- 1.input[0:1], 2.input[0:1], 1.input[0:1] reduce_op max @
  reduce(a, b, plain, options);
}

MSCCLC_ALGORITHM void operations() {
  CollectiveProgram program("operations", TestCollective(1, 4, 1));
  const Chunk a = Rank(0).input()[0], b = Rank(0).input()[1], c = Rank(0).input()[2];
  const std::vector<Chunk> vector{b, c};
  const ThreadBlockGroup group({0});
  const On on(tb(0));
  const ReduceOptions options{.op = ReduceOp::Max};
  // MANUAL: = copy input[0:1] <- input[1:2]
  copy(a, b, tb(0));
  // MANUAL-NEXT: = copy input[0:1] <- input[1:2]
  copy(a, b, on);
  // MANUAL-NEXT: = copy input[0:1] <- input[1:2]%in slice 0 of 1
  copy(a, b, group);
  // MANUAL-NEXT: = copy input[0:1] <- input[1:2]%in slice 0 of 1
  copy(a, b, ThreadBlockGroup({0}));
  // MANUAL-NEXT: = re input[0:1] <- input[0:1]%{{[0-9]+}}, input[1:2]%in @
  reduce(a, {b}, tb(0));
  // MANUAL-NEXT: = re input[0:1] <- input[0:1]%{{[0-9]+}}, input[1:2]%in, input[2:3]%in reduce_op max
  reduce(a, {b, c}, tb(0), options);
  // MANUAL-NEXT: = re input[2:3] <- input[0:1]%{{[0-9]+}}, input[1:2]%in @
  reduce(a, {b}, tb(0), {.dst = c});
  // MANUAL-NEXT: = re input[0:1] <- input[0:1]%{{[0-9]+}}, input[1:2]%in, input[2:3]%{{[0-9]+}} @
  reduce(a, vector, tb(0));
  // MANUAL-NEXT: = re input[0:1] <- input[0:1]%{{[0-9]+}}, input[1:2]%in slice 0 of 1
  reduce(a, {b}, group);
  // MANUAL-NEXT: = re input[0:1] <- input[0:1]%{{[0-9]+}}, input[1:2]%in, input[2:3]%{{[0-9]+}} reduce_op max
  reduce(a, vector, on, options);
}
