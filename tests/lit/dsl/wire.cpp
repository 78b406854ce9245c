// A wire format in a program of thread blocks: scratch holds values in it.
// REQUIRES: frontend
// What the first rank puts is quantised, the own operand of the last rank is not, and the proof says so.
// RUN: mscclc %s -P ranks=2 --target=none --verify | FileCheck %s --check-prefix=PART
// RUN: mscclc %s -P ranks=2 --target=none --run --dtype f32,bf16 --schedules 5 | FileCheck %s --check-prefix=BITS
// RUN: mscclc %s -P ranks=2 --target=none --emit-dsl | FileCheck %s --check-prefix=DSL
// A partial sum would be quantised again.
// RUN: %verify %s --target=none
// Values leave a rank in scratch alone, through memory channels.
// RUN: %verify --prefix=output %s -P kind=1 -P ranks=2 --target=none
// RUN: %verify --prefix=port %s -P kind=2 -P ranks=2 --target=none
#include <mscclc/dsl.hpp>
using namespace mscclc;

/// A chain of partial sums to the last rank. kind 1: the first rank puts into its output; 2: through a port.
MSCCLC_ALGORITHM void wire(int kind = 0, int ranks = 3) {
  CollectiveProgram program("wire", Reduce(ranks, 2, ranks - 1, /*inplace=*/false),
                            {.wire = Wire::F8E4m3{.block = 64}});
  List<Buffer> scratch; // what comes, and the sum
  for (int rank = 0; rank < ranks; ++rank)
    scratch.push_back(Buffer(rank, 4));
  for (int rank = 0; rank < ranks; ++rank) {
    const Rank here(rank);
    const auto mine = here.input().slice(0, 2), came = scratch[rank].slice(0, 2);
    const auto sum = rank + 1 == ranks ? here.output().slice(0, 2) : scratch[rank].slice(2, 4);
    if (rank > 0) {
      const MemoryChannel previous(rank - 1, rank);
      previous.signal(tb(0), {.sync = Sync::None, .relaxed = true});
      previous.wait(tb(0), {.sync = Sync::After});
      here.reduce(mine, {came}, tb(0), {.dst = sum}); // expected-error@:12 {{output[0] of rank 2 ends as a sum of which a part was put into the wire format twice, so it is rounded more than once; let one operation add all contributions}}
      // expected-note@-1:12 {{last written here, by rank 2, block 0}}
    }
    if (rank + 1 == ranks)
      continue;
    const MemoryChannel next(rank + 1, rank);
    next.wait(tb(0), {.sync = Sync::After, .relaxed = true});
    const auto there = kind == 1 ? Rank(rank + 1).output().slice(0, 2) : scratch[rank + 1].slice(0, 2);
    if (kind == 2)
      PortChannel(rank + 1, rank).put(there, rank > 0 ? sum : mine, tb(0)); // port-error@:35 {{'put' goes through a port: in a program with a wire format (f8e4m3), values leave a rank in scratch alone, which is read and written by memory channels}}
    else
      next.put(there, rank > 0 ? sum : mine, tb(0)); // output-error@:12 {{'put' reaches an input or output of another rank: in a program with a wire format (f8e4m3), values leave a rank in scratch alone, which is read and written by memory channels}}
    next.signal(tb(0), {.sync = Sync::Before});
  }
}

// PART: sums: 0+1 everywhere, 1 of 2 contributions quantised once, the sum not{{$}}
// BITS: {{bits +5 +0 +yes}}
// DSL: .wire = Wire::F8E4m3{.block = 64}
