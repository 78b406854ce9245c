// Products: proven, run in every type, baked and printed again; a plan that multiplies is no plan for the executor.
// RUN: mscclc %s --verify | FileCheck %s --check-prefix=PROVEN
// RUN: mscclc %s --run --schedules 3 --size 96,384 --dtype f32,f16,bf16,f64,f8e4m3,f8e5m2,i8,i32,i64,u8,u32,u64 | FileCheck %s --check-prefix=RAN
// RUN: mscclc %s --emit-cuda --dtype f64,f8e4m3 | FileCheck %s --check-prefix=KERNEL
// RUN: mscclc %s --emit-dsl | FileCheck %s --check-prefix=SOURCE
// RUN: mscclc %s --target=none -o %t.json && mscclc %t.json --verify | FileCheck %s --check-prefix=PROVEN
// RUN: FileCheck %s --check-prefix=PLAN < %t.json
// RUN: not mscclc %s 2>&1 | FileCheck %s --check-prefix=EXECUTOR
// Where one rank sums instead, outputs are not all reduced alike.
// RUN: sh -c 'mscclc %s --verify -P summing=1; echo code=$?' 2>&1 | FileCheck %s --check-prefix=MIXED
// RUN: sh -c 'mscclc %s --run --no-verify --schedules 3 --size 96 -P summing=1; echo code=$?' 2>&1 | FileCheck %s --check-prefix=WRONG
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void products(int summing = -1) {
  constexpr int ranks = 3;
  CollectiveProgram program("products", AllReduce(ranks, 1, /*inplace=*/true));
  for (int rank = 0; rank < ranks; ++rank)
    for (int other = 0; other < ranks; ++other)
      if (other != rank) {
        MemoryChannel channel(other, rank);
        channel.signal(tb(0), {.relaxed = true});
        channel.wait(tb(0), {.sync = Sync::After});
      }
  for (int rank = 0; rank < ranks; ++rank) {
    Chunk share = Rank(rank).input()[rank];
    MemoryChannel next((rank + 1) % ranks, rank), last((rank + 2) % ranks, rank);
    const ReduceOp op = rank == summing ? ReduceOp::Sum : ReduceOp::Prod;
    next.reduce(share, {Rank((rank + 1) % ranks).input()[rank]}, tb(0), {.op = op});
    // EXECUTOR: products.cpp:[[#@LINE-1]]:10: error: mscclpp-1f5f065d always sums, so 'prod' would be wrong; a baked kernel (--emit-cuda --target=none) does it [executor-reduce-op]{{$}}
    last.reduce(share, {Rank((rank + 2) % ranks).input()[rank]}, tb(0), {.op = op});
    next.put(Rank((rank + 1) % ranks).input()[rank], share, tb(0));
    last.put(Rank((rank + 2) % ranks).input()[rank], share, tb(0));
    next.signal(tb(0), {.sync = Sync::Before});
    last.signal(tb(0));
    next.wait(tb(0));
    last.wait(tb(0), {.sync = Sync::After});
  }
}
// PROVEN: products: proven: 3 ranks
// RAN: products, f32,
// RAN: products, f8e4m3,
// RAN: products, u64,
// KERNEL: with -O2 --dtype f64 --dtype f8e4m3{{$}}
// KERNEL: #define MSCCLC_DTYPES double, Float8E4m3{{$}}
// KERNEL: #define MSCCLC_REDUCE_OPS Prod{{$}}
// SOURCE: ReduceOp::Prod
// PLAN: "reduce_op": "prod"
// MIXED: reduced with sum, other chunks with prod
// MIXED: code=1
// WRONG: leaves
// WRONG: code=1
