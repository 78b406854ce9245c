// One rank applies a hook and gives the result to the other. With arrays of its own, that one has to apply it itself.
// REQUIRES: frontend
// RUN: mscclc %s -P arrays=false --verify
// RUN: mscclc %s -P arrays=false --run --schedules 10
// RUN: %verify %s --verify
// RUN: not mscclc %s --no-verify --run --schedules 1 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: error: schedule 1 of 1 at
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void one_for_all(bool arrays = true) {
  CollectiveProgram program("one_for_all", AllReduce(2, 1, /*inplace=*/true).then("norm"));
  HookOptions options{.granularity = Granularity::Row, .reads = {"gamma"}, .equal = {"gamma"}};
  if (arrays)
    options.writes = {"residual"};
  Hook norm("norm", options);
  auto [there, back] = MemoryChannel::pair(0, 1);
  back.signal(tb(0), {.sync = Sync::Before});
  there.wait(tb(0), {.sync = Sync::After});
  const Chunk sum = Rank(0).input().slice(0, 2), other = Rank(1).input().slice(0, 2);
  there.reduce(sum, {other}, tb(0));
  apply(norm, sum, tb(0));
  there.put(other, sum, tb(0)); // expected-error@:9 {{output[0] of rank 1 ends with hook 'norm' applied by rank 0 to output[0], whose arrays have other rows: each rank that is promised the value applies it}}
  there.signal(tb(0), {.sync = Sync::Before}); // expected-note@-1:9 {{last written here}}
  back.wait(tb(0), {.sync = Sync::After});
}
