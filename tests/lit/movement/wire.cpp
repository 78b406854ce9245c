// A wire format: what leaves a rank is encoded in scratch, and decoded where it is read.
// REQUIRES: frontend
// RUN: mscclc %s --target=none --verify | FileCheck %s --check-prefix=PROOF
// RUN: mscclc %s -P ranks=2..9 -P order=Any,Written,Ranks --target=none --verify
// RUN: mscclc %s -P copies=1,3 -P chunks=1,2 -P blocks=0,3 --message-size 1M --target=none --verify
// RUN: mscclc %s -P kind=1 --target=none --verify | FileCheck %s --check-prefix=SCATTER
// Bits are those of the proven tree with each quantisation in it, at each type.
// RUN: mscclc %s --target=none --run --dtype f32,f16,bf16 --schedules 5 | FileCheck %s --check-prefix=BITS
// RUN: mscclc %s -P ranks=3 -P copies=2 -P chunks=2 --target=none --run --dtype bf16 --schedules 5
// RUN: mscclc %s -P kind=1 --target=none --run --dtype f16 --schedules 5
// RUN: not mscclc %s --target=none --run --dtype i32 2>&1 | FileCheck %s --check-prefix=INTEGER
// In packets, too. A rank encodes its own contribution as it adds it, and stores what it sends.
// RUN: mscclc %s -P protocol=LL --target=none --verify | FileCheck %s --check-prefix=PROOF
// RUN: mscclc %s -P protocol=LL -P ranks=2..9 -P order=Any,Written,Ranks --target=none --verify
// RUN: mscclc %s -P protocol=LL -P ranks=3 -P copies=1,2 -P chunks=1,2 -P blocks=0,4 --target=none --verify
// RUN: mscclc %s -P protocol=LL -P kind=1 --target=none --verify | FileCheck %s --check-prefix=SCATTER
// RUN: mscclc %s -P protocol=LL --target=none --run --dtype f32,f16,bf16 --schedules 5 | FileCheck %s --check-prefix=BITS
// RUN: mscclc %s -P protocol=LL -P bf16=true -P ranks=3 -P copies=2 --target=none -O0 --run --schedules 5 | FileCheck %s --check-prefix=BITS
// RUN: mscclc %s -P protocol=LL -P kind=1 --target=none --run --dtype f16 --schedules 5
// RUN: mscclc %s -P protocol=LL --emit-cuda | FileCheck %s --check-prefix=PACKETS
// RUN: mscclc %s -P ranks=8 -P protocol=Auto --machine h100x8 --message-size 64K --emit-cuda | FileCheck %s --check-prefix=SHORT
// RUN: not mscclc %s -P protocol=Lamport --target=none --verify 2>&1 | FileCheck %s --check-prefix=LAMPORT
// As bf16, for f32 alone.
// RUN: mscclc %s -P bf16=true --target=none --verify | FileCheck %s --check-prefix=PROOF
// RUN: mscclc %s -P bf16=true -P kind=1 --target=none --verify | FileCheck %s --check-prefix=SCATTER
// RUN: mscclc %s -P bf16=true --target=none --run --schedules 5 | FileCheck %s --check-prefix=BITS
// RUN: mscclc %s -P bf16=true -P ranks=3 -P copies=2 -P chunks=2 --target=none --run --schedules 5
// RUN: not mscclc %s -P bf16=true --target=none --run --dtype bf16 2>&1 | FileCheck %s --check-prefix=NARROW
// RUN: not mscclc %s -P bf16=true --emit-cuda --dtype f32,f16 -o %t.no.cu 2>&1 | FileCheck %s --check-prefix=NARROW-TYPE
// RUN: mscclc %s -P bf16=true --emit-cuda -o %t.bf16.cu
// RUN: FileCheck %s --check-prefix=BF16-KERNEL --input-file %t.bf16.cu
// RUN: mscclc %s -P bf16=true --target=none --emit-ir -o %t.bf16.ir
// RUN: FileCheck %s --check-prefix=BF16-IR --input-file %t.bf16.ir
// RUN: mscclc %t.bf16.ir --passes= --emit-ir | diff %t.bf16.ir -
// RUN: mscclc %s -P bf16=true --target=none --emit-dsl -o %t.bf16.cpp
// RUN: FileCheck %s --check-prefix=BF16-DSL --input-file %t.bf16.cpp
// RUN: mscclc %t.bf16.cpp --target=none --verify | FileCheck %s --check-prefix=PROOF
// RUN: mscclc %s -P bf16=true -P ranks=8 --machine h100x8 --target=none --estimate --size 256M | FileCheck %s --check-prefix=HALF
// It takes 132 bytes for each 128 elements of 16 bits, which are 256.
// RUN: mscclc %s -P ranks=8 --machine h100x8 --target=none --estimate --size 256M | FileCheck %s --check-prefix=TIME
// IR text keeps it, and is proven again.
// RUN: mscclc %s --target=none --emit-ir -o %t.ir
// RUN: FileCheck %s --check-prefix=IR --input-file %t.ir
// RUN: mscclc %t.ir --passes= --emit-ir | diff %t.ir -
// RUN: mscclc %t.ir --target=none --verify | FileCheck %s --check-prefix=PROOF
// RUN: mscclc %t.ir --target=none --run --dtype bf16 --schedules 5
// A source of it in thread blocks has the same format, and is proven to be the same.
// RUN: mscclc %s --target=none --emit-dsl -o %t.cpp
// RUN: FileCheck %s --check-prefix=DSL --input-file %t.cpp
// RUN: mscclc %t.cpp --target=none --verify | FileCheck %s --check-prefix=PROOF
// RUN: mscclc %t.cpp --target=none --run --dtype bf16 --schedules 5
// Kernels have it, and plans do not.
// RUN: mscclc %s --emit-cuda -o %t.cu && FileCheck %s --check-prefix=KERNEL --input-file %t.cu
// RUN: not mscclc %s --emit-cuda --dtype f32,f64 -o %t.no.cu 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not mscclc %s -o %t.json 2>&1 | FileCheck %s --check-prefix=EXECUTOR
// RUN: not mscclc %s --target=none -o %t.json 2>&1 | FileCheck %s --check-prefix=PLAN
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void wire(int ranks = 4, int copies = 1, int chunks = 1, int blocks = 0, Order order = Order::Ranks,
                           int kind = 0, int block = 128, bool bf16 = false, Protocol protocol = Protocol::Simple) {
  const ProgramOptions options{.instances = copies,
                               .protocol = protocol,
                               .schedule = Schedule::Auto,
                               .blocks = blocks,
                               .order = order,
                               .wire = bf16 ? Wire(Wire::Bf16{.block = block}) : Wire::F8E4m3{.block = block}};
  const auto shares = [&](bool scatters) {
    for (int rank = 0; rank < ranks; ++rank) {
      List<Chunk> others;
      for (int step = 1; step < ranks; ++step)
        others.push_back(Rank((rank + step) % ranks).input().slice(rank * chunks, (rank + 1) * chunks));
      const Chunk share = Rank(rank).input().slice(rank * chunks, (rank + 1) * chunks);
      reduce(share, others);
      if (!scatters)
        copy(others, share);
    }
  };
  if (kind == 0) {
    CollectiveProgram program("wire", AllReduce(ranks, chunks, /*inplace=*/true), options);
    shares(false);
  } else {
    CollectiveProgram program("wire", ReduceScatter(ranks, chunks, /*inplace=*/true), options);
    shares(true);
  }
}

// PROOF: sums: ((0+1)+2)+3 everywhere, each contribution quantised once, the sum once{{$}}
// SCATTER: sums: ((0+1)+2)+3 everywhere, each contribution quantised once, the sum not{{$}}
// PACKETS: // recspkt  wire.cpp:
// PACKETS: reducePacketsAfter<Op>(k, {{.*}}, one(k.input(k.rank)),
// SHORT: fromPackets(
// LAMPORT: error: '.wire' does not go with .protocol = Protocol::Lamport: leave one of them out
// BITS: {{bits +5 +0 +yes}}
// INTEGER: error: a message of {{[0-9]+}} bytes cannot be run: the wire format f8e4m3 is for f32, f16 and bf16, and not for i32
// NARROW: error: a message of {{[0-9]+}} bytes cannot be run: the wire format bf16 is for f32, and not for bf16
// HALF: link out {{.*}} 284{{[0-9]+}} bytes
// TIME: link out {{.*}} 29{{[0-9]+}} bytes
// IR: hook0 = "wire" block 128 function "mscclc::hooks::WireF8E4m3<128>" header "mscclc/hooks/wire_f8e4m3.cuh" wire f8e4m3
// DSL: .wire = Wire::F8E4m3{.block = 128}
// BF16-IR: hook0 = "wire" block 128 function "mscclc::hooks::WireBf16<128>" header "mscclc/hooks/wire_bf16.cuh" wire bf16
// BF16-DSL: .wire = Wire::Bf16{.block = 128}
// BF16-KERNEL: #include "mscclc/hooks/wire_bf16.cuh"
// BF16-KERNEL: #define MSCCLC_DTYPES float{{$}}
// BF16-KERNEL: collective = "allreduce+bf16";
// BF16-KERNEL: using Wire = mscclc::hooks::WireBf16<128>; // the form of values in scratch
// KERNEL: #include "mscclc/hooks/wire_f8e4m3.cuh"
// KERNEL: #define MSCCLC_DTYPES float, Half, Bfloat16
// KERNEL: using Wire = mscclc::hooks::WireF8E4m3<128>; // the form of values in scratch
// KERNEL-NEXT: blockElements = 128;
// TYPE: error: the wire format f8e4m3 (.wire) is for f32, f16 and bf16: leave f64 out of --dtype
// NARROW-TYPE: error: the wire format bf16 (.wire) is for f32: leave f16 out of --dtype
// EXECUTOR: error: {{mscclpp.*}} moves elements as they are, so a plan cannot have a wire format (.wire); --emit-cuda makes a kernel of the program
// PLAN: error: a plan has no wire formats, so it cannot quantise what leaves a rank (.wire); --emit-cuda makes a kernel of it
