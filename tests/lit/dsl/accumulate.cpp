// Accumulate::Wide in a program of thread blocks: scratch is f32 if some sum needs it.
// REQUIRES: frontend
// RUN: mscclc %s --target=none --verify | FileCheck %s --check-prefix=WIDE
// RUN: mscclc %s -P accumulate=Narrow --target=none --verify | FileCheck %s --check-prefix=NARROW
// RUN: mscclc %s -P kind=0,2 -P copies=1,2 -P ranks=2..4 --target=none --verify
// RUN: mscclc %s -P kind=1 -P copies=1,2 -P ranks=2..4 --target=none --verify --allow=size-change
// RUN: mscclc %s --run --dtype f16,bf16,f8e4m3,f8e5m2,f32 --schedules 5 | FileCheck %s --check-prefix=BITS
// RUN: mscclc %s -P kind=1,2 -P copies=1,2 --run --dtype f16,f8e4m3,u8 --schedules 5 --allow=size-change
// RUN: mscclc %s -P accumulate=Wide --target=none --estimate --size 64M | FileCheck %s --check-prefix=BYTES-WIDE
// RUN: mscclc %s -P accumulate=Narrow --target=none --estimate --size 64M | FileCheck %s --check-prefix=BYTES
// RUN: mscclc %s --emit-cuda | FileCheck %s --check-prefix=KERNEL
// RUN: mscclc %s -P ranks=2 --emit-cuda | FileCheck %s --check-prefix=ONCE --implicit-check-not=wideScratch
// Two ranks leave no partial result, so any executor will do.
// RUN: mscclc %s -P ranks=2 -o %t.json
// RUN: mscclc %s -P ranks=2 --emit-dsl | FileCheck %s --check-prefix=DSL
// RUN: %verify %s
// RUN: %verify %s --no-verify
// A partial result in an output is rounded.
// RUN: %verify --prefix=output %s -P kind=3 --target=none
// A port moves bytes, and a switch does not convert either.
// RUN: %verify --prefix=port %s -P kind=4 --target=none
// RUN: %verify --prefix=switch %s -P kind=5 --target=none
#include <mscclc/dsl.hpp>
using namespace mscclc;

/// A chain of partial sums to the last rank. kind 0: of plain data; 1: of packets; 2: through ports; 3: kept in outputs;
/// 4: sent by a port from the input; 5: of plain data, with a switch channel over scratch.
MSCCLC_ALGORITHM void accumulate(int kind = 0, int ranks = 3, Accumulate accumulate = Accumulate::Wide, int copies = 1) {
  CollectiveProgram program("accumulate", Reduce(ranks, 2, ranks - 1, /*inplace=*/false),
                            {.instances = copies,
                             .protocol = kind == 1 ? Protocol::LL : Protocol::Simple,
                             .accumulate = accumulate});
  List<Buffer> scratch; // what comes, as packets or not, and the sum
  for (int rank = 0; rank < ranks; ++rank)
    scratch.push_back(Buffer(rank, 6));
  const bool isPort = kind == 2 || kind == 4;
  for (int rank = 0; rank < ranks; ++rank) {
    const Rank here(rank);
    const auto mine = here.input().slice(0, 2), came = scratch[rank].slice(0, 2);
    const bool isLast = rank + 1 == ranks;
    const auto sum = isLast || kind == 3 ? here.output().slice(0, 2) : scratch[rank].slice(4, 6);
    if (rank > 0 && isPort) {
      const PortChannel previous(rank - 1, rank);
      previous.signal(tb(0), {.sync = Sync::None});
      previous.wait(tb(0), {.sync = Sync::After});
    } else if (rank > 0) {
      const MemoryChannel previous(rank - 1, rank);
      previous.signal(tb(0), {.sync = Sync::None, .relaxed = true});
      if (kind != 1)
        previous.wait(tb(0), {.sync = Sync::After});
    }
    if (rank > 0)
      here.reduce(mine, {came}, tb(0), {.dst = sum, .packet = kind == 1});
    // expected-error@-1:12 {{a sum is not rounded once (.accumulate): rank 1 rounds a partial result to the type of elements here: only a kernel keeps it in f32 (--emit-cuda), and an executor does not}}
    // expected-note@-2:12 {{rank 2 adds to it here}}
    // output-error@-3:12 {{a sum is not rounded once (.accumulate): rank 1 rounds a partial result to the type of elements here: put it into scratch, which is wide}}
    // output-note@-4:12 {{rank 2 adds to it here}}
    if (rank == 0 && kind == 2)
      here.copy(came, mine, tb(0));
    const auto from = rank > 0 ? sum : kind == 2 ? came : mine;
    if (isLast)
      continue;
    if (isPort) {
      const PortChannel next(rank + 1, rank);
      next.wait(tb(0), {.sync = Sync::After});
      next.put(scratch[rank + 1].slice(0, 2), from, tb(0)); // port-error@:12 {{scratch is f32 where partial results stay wide (.accumulate), and a port moves bytes: it cannot put from input to scratch; copy inside a rank, and put from scratch to scratch}}
      next.signal(tb(0), {.sync = Sync::Before});
      next.flush(tb(0), {.sync = Sync::After});
      continue;
    }
    const MemoryChannel next(rank + 1, rank);
    next.wait(tb(0), {.sync = Sync::After, .relaxed = true});
    if (kind == 1) {
      next.putPackets(scratch[rank + 1].slice(0, 2), from, tb(0));
    } else {
      next.put(scratch[rank + 1].slice(0, 2), from, tb(0));
      next.signal(tb(0), {.sync = Sync::Before});
    }
  }
  if (kind == 5) {
    const SwitchChannel all({0, 1, 2}, BufferType::Scratch);
    all.atRank(0).broadcast(Rank(0).input()[0], 5, 1, tb(1)); // switch-error@:19 {{scratch is f32 where partial results stay wide (.accumulate): use a switch channel for inputs and outputs alone}}
  }
}

// WIDE: sums: (0+1)+2 everywhere, narrowed once
// NARROW: sums: (0+1)+2 everywhere, narrowed 2 times
// BITS: {{bits +5 +0 +yes}}
// BYTES-WIDE: link out {{.*}} 162797783 bytes
// BYTES: link out {{.*}} 81398892 bytes
// KERNEL: #define MSCCLC_DTYPES Half, Bfloat16
// KERNEL: wideScratch = true;
// ONCE: #define MSCCLC_DTYPES float, Half
// DSL: .accumulate = Accumulate::Wide
