// With Accumulate::Wide every sum of floats is rounded once, whatever is chosen.
// REQUIRES: frontend
// A ring leaves partial results. They move to scratch, which is f32, and the sum is rounded at the last rank.
// RUN: mscclc %s --target=none --verify | FileCheck %s --check-prefix=WIDE
// RUN: mscclc %s -P accumulate=Narrow --target=none --verify | FileCheck %s --check-prefix=NARROW
// RUN: mscclc %s -P copies=1,2 -P protocol=Simple,LL,Auto -P blocks=0,2 --target=none --verify
// RUN: mscclc %s -P perNode=1,2 -P protocol=Simple,LL --target=none --verify
// Bits are those of the tree, for each type of floats. Integers and f32 lie in scratch as they are. One type shows the
// message of several iterations that --run takes by itself.
// RUN: mscclc %s --run --dtype f16,bf16,f8e4m3,f8e5m2,f32 --size 320,64K --schedules 5 | FileCheck %s --check-prefix=BITS
// RUN: mscclc %s --run --dtype f16 --schedules 1
// RUN: mscclc %s -P perNode=2 --run --dtype f16 --schedules 5
// RUN: mscclc %s -P protocol=LL -P copies=2 --run --dtype bf16 --schedules 5
// RUN: mscclc %s --run --dtype u8,i32,f64 --size 320,64K --schedules 5
// RUN: mscclc %s -P op=Max --run --dtype f16 --size 320,64K --schedules 5
// RUN: mscclc %s -P op=Max --target=none --emit-ir | FileCheck %s --check-prefix=ONCE
// Where one operation adds all, nothing is wide.
// RUN: mscclc %s -P oneStep=true --target=none --emit-ir | FileCheck %s --check-prefix=ONCE
// RUN: mscclc %s -P oneStep=true -P ranks=2..5 -P protocol=Simple,LL --message-size 1M --verify
// RUN: mscclc %s -P oneStep=true -P order=Ranks --verify=invariant
// RUN: mscclc %s -P oneStep=true -o %t.json
// IR text keeps it, and is proven again.
// RUN: mscclc %s --target=none --emit-ir -o %t.ir
// RUN: FileCheck %s --check-prefix=IR --input-file %t.ir
// RUN: mscclc %t.ir --passes= --emit-ir | diff %t.ir -
// RUN: mscclc %t.ir --target=none --verify | FileCheck %s --check-prefix=WIDE
// RUN: mscclc %t.ir --run --dtype f16 --size 320 --schedules 5
// Kernels say it.
// RUN: mscclc %s --emit-cuda -o %t.cu && FileCheck %s --check-prefix=KERNEL --input-file %t.cu
// RUN: mscclc %s --target=none --emit-dsl | FileCheck %s --check-prefix=DSL
// RUN: not mscclc %s --emit-cuda --dtype f16,f8e5m2 -o %t.no.cu 2>&1 | FileCheck %s --check-prefix=SPREADS
// A switch adds floats of 8 bits in f16.
// RUN: mscclc %s -P oneStep=true -P order=Any --run --dtype f16,i32 --schedules 5
// RUN: not mscclc %s -P oneStep=true -P order=Any --run --dtype f8e4m3 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: not mscclc %s -P oneStep=true -P order=Any --emit-cuda --dtype f8e4m3 -o %t.no.cu 2>&1 | FileCheck %s --check-prefix=NOT-EMITTED
// An executor's operations round, so the one that does it early is named.
// RUN: %verify %s --emit-json
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void accumulate(int ranks = 4, Accumulate accumulate = Accumulate::Wide,
                                 Protocol protocol = Protocol::Auto, int copies = 1, int blocks = 0, int perNode = 0,
                                 bool oneStep = false, Order order = Order::Written, ReduceOp op = ReduceOp::Sum) {
  CollectiveProgram program("accumulate", AllReduce(ranks, 1, /*inplace=*/true),
                            {.instances = copies,
                             .protocol = protocol,
                             .schedule = Schedule::Auto,
                             .ranksPerNode = perNode,
                             .blocks = blocks,
                             .order = order,
                             .accumulate = accumulate});
  for (int share = 0; share < ranks; ++share) {
    List<Chunk> others;
    for (int step = 1; step < ranks; ++step) {
      const Rank here((share + step) % ranks), previous((share + step - 1) % ranks);
      others.push_back(here.input()[share]);
      if (!oneStep)
        reduce(here.input()[share], {previous.input()[share]}, {.op = op});
      // expected-error@-1:9 {{a sum is not rounded once (.accumulate): a partial result is rounded to the type of elements here, as the operations of an executor do; a kernel keeps it in f32 (--emit-cuda)}}
      // expected-note@-2:9 {{another statement adds to it here}}
      // expected-note@"" {{and 7 more like it}}
    }
    if (oneStep && order == Order::Any)
      reduce(Rank(share).input()[share], others, {.via = Via::Switch});
    else if (oneStep)
      reduce(Rank(share).input()[share], others, {.op = op});
    const int last = oneStep ? share : (share + ranks - 1) % ranks;
    for (int step = 1; step < ranks; ++step)
      copy(Rank((last + step) % ranks).input()[share], Rank(last).input()[share]);
  }
}

// WIDE: sums: the order depends on the chunk: output[0] 0+1+2+3, output[1] 1+2+3+0, narrowed once{{$}}
// NARROW: sums: the order depends on the chunk: output[0] 0+1+2+3, output[1] 1+2+3+0, narrowed 3 times at most{{$}}
// BITS: {{bits +5 +0 +yes}}
// ONCE: accumulate once
// IR: accumulate wide
// KERNEL: #define MSCCLC_DTYPES Half, Bfloat16
// KERNEL: wideScratch = true;
// DSL: .accumulate = Accumulate::Wide
// SPREADS: error: elements of --dtype take different room in scratch, where partial results stay f32 (.accumulate): write a kernel for each size of floats
// REFUSED: cannot be run: a switch adds f8e4m3 in f16, so such sums are not rounded once
// NOT-EMITTED: error: a switch adds f8e4m3 in f16, so such sums are not rounded once (.accumulate): leave it out of --dtype
