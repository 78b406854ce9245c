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
                             .reassociate = true});
  const Chunk a = Rank(0).input()[0], b = Rank(1).input()[0], c = Rank(2).input()[0], d = Rank(3).input()[0];
  const std::vector<Chunk> vector{b, c};
  const std::array<Chunk, 2> array{c, d};
  const Chunk plain[] = {c, b};
  const List<Chunk> list{a, d};
  const MoveOptions options{.op = ReduceOp::Max};
  copy(a, b);
  copy(c, b, {.via = Via::Port, .by = 1, .on = tb(3), .packets = true});
  copy(a, b, {.packets = false});
  copy(a, b, {.by = automatic, .on = automatic, .packets = automatic});
  copy({a, b}, c);
  copy({a}, c);
  copy({a, b}, a, {.via = Via::Switch});
  copy(vector, a);
  copy(array, a);
  copy(plain, a);
  copy(list, b, {.by = 1});
  reduce(a, {b, c});
  reduce(a, {b}, {.op = ReduceOp::Max});
  reduce(a, {b}, options);
  reduce(a, vector);
  reduce(a, list, options);
  reduce(a, b, {c, d});
  reduce(a, b, {c}, {.op = ReduceOp::Min});
  reduce(a, b, vector);
  reduce(a, b, plain, options);
}

MSCCLC_ALGORITHM void operations() {
  CollectiveProgram program("operations", TestCollective(1, 4, 1));
  const Chunk a = Rank(0).input()[0], b = Rank(0).input()[1], c = Rank(0).input()[2];
  const std::vector<Chunk> vector{b, c};
  const ThreadBlockGroup group({0});
  const On on(tb(0));
  const ReduceOptions options{.op = ReduceOp::Max};
  copy(a, b, tb(0));
  copy(a, b, on);
  copy(a, b, group);
  copy(a, b, ThreadBlockGroup({0}));
  reduce(a, {b}, tb(0));
  reduce(a, {b, c}, tb(0), options);
  reduce(a, {b}, tb(0), {.dst = c});
  reduce(a, vector, tb(0));
  reduce(a, {b}, group);
  reduce(a, vector, on, options);
}
