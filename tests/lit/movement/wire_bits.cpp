// With a wire format, what is proven has the same bits on all ranks and at every level of optimization.
// REQUIRES: frontend
// A value that was decoded into an output is rounded there. A sum of it rounds once more.
// RUN: not mscclc %s --algorithm through_output --target=none --verify 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: wire_bits.cpp:[[#]]:{{[0-9]+}}: error: output[0] of rank 1 ends as a sum of which a part was put into the wire format twice, so it is rounded more than once; let one statement add all contributions
// An input that is only copied is another one for its owner.
// RUN: not mscclc %s --algorithm by_blocks -P kind=0 --target=none --verify 2>&1 | FileCheck %s --check-prefix=COPIED
// COPIED: error: output[1] of rank 0 ends as input[0] of rank 1 in the wire format, and its owner has it as it was; a wire format is for sums
// A maximum has no order, so nothing would compare its trees.
// RUN: not mscclc %s --algorithm by_blocks -P kind=1 --target=none --verify 2>&1 | FileCheck %s --check-prefix=MAXIMUM
// MAXIMUM: takes a maximum or a minimum, which is no sum: in a program with a wire format
// A sum that an output holds is sent as it is there, also after fusing.
// RUN: mscclc %s --algorithm by_blocks -P kind=2 -O0 --target=none --verify
// RUN: mscclc %s --algorithm by_blocks -P kind=2 -O2 --target=none --verify
// RUN: mscclc %s --algorithm by_blocks -P kind=2 -O2 --target=none --run --dtype bf16 --schedules 2
// What came into scratch by other statements is added to a contribution that was quantised, too.
// RUN: mscclc %s --algorithm through_scratch --target=none --verify | FileCheck %s --check-prefix=EACH
// EACH: sums: 0+1 everywhere, each contribution quantised once, the sum once
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void through_output() {
  CollectiveProgram program("wire", AllReduce(2, 1, false), {.schedule = Schedule::Auto, .wire = Wire::F8E4m3{}});
  for (int chunk = 0; chunk < 2; ++chunk) {
    Buffer a(0, 2), b(1, 2);
    for (int rank = 0; rank < 2; ++rank) {
      copy(a[rank], Rank(rank).input()[chunk]);
      copy(b[rank], Rank(rank).input()[chunk]);
    }
    reduce(Rank(0).output()[chunk], a[0], {a[1]});
    copy(Rank(1).output()[chunk], b[0]);
    reduce(Rank(1).output()[chunk], {b[1]});
  }
}

MSCCLC_ALGORITHM void through_scratch() {
  CollectiveProgram program("wire", AllReduce(2, 1, /*inplace=*/true),
                            {.schedule = Schedule::Auto, .wire = Wire::F8E4m3{}});
  for (int chunk = 0; chunk < 2; ++chunk) {
    Buffer came(0, 1);
    copy(came[0], Rank(1).input()[chunk]);
    reduce(Rank(0).input()[chunk], {came[0]});
    copy(Rank(1).input()[chunk], Rank(0).input()[chunk]);
  }
}

/// Puts `chunk` to scratch of the other rank, and waits for what comes.
void exchange(MemoryChannel &channel, const Chunk &there, const Chunk &chunk) {
  channel.put(there, chunk, tb(0));
  channel.signal(tb(0), {.sync = Sync::Before});
  channel.wait(tb(0), {.sync = Sync::After});
}

MSCCLC_ALGORITHM void by_blocks(int kind = 0) {
  const ProgramOptions options{.wire = Wire::F8E4m3{.block = 64}};
  const CollectiveProgram program = kind == 0 ? CollectiveProgram("wire", AllGather(2, 1, false), options)
                                              : CollectiveProgram("wire", AllReduce(2, 1, false), options);
  List<Buffer> scratch{Buffer(0, 4), Buffer(1, 4)};
  List<MemoryChannel> channels{MemoryChannel(1, 0), MemoryChannel(0, 1)};
  for (int rank = 0; rank < 2; ++rank) {
    channels[rank].signal(tb(0), {.sync = Sync::None, .relaxed = true});
    channels[rank].wait(tb(0), {.sync = Sync::After, .relaxed = true});
  }
  const int chunks = kind == 0 ? 1 : 2;
  for (int rank = 0; rank < 2; ++rank)
    exchange(channels[rank], scratch[1 - rank].slice(0, chunks), Rank(rank).input().slice(0, chunks));
  for (int rank = 0; rank < 2; ++rank) {
    const Chunk mine = Rank(rank).input().slice(0, chunks), came = scratch[rank].slice(0, chunks);
    if (kind == 0) {
      Rank(rank).copy(Rank(rank).output().slice(1 - rank, 2 - rank), came, tb(0));
      Rank(rank).copy(Rank(rank).output().slice(rank, rank + 1), mine, tb(0));
    } else if (kind == 1) {
      Rank(rank).reduce(mine, {came}, tb(0), {.dst = Rank(rank).output().slice(0, 2), .op = ReduceOp::Max});
    } else if (rank == 0) {
      const Chunk sum = Rank(0).output().slice(0, 2);
      Rank(0).reduce(mine, {came}, tb(0), {.dst = sum});
      channels[0].put(scratch[1].slice(2, 4), sum, tb(0));
      channels[0].signal(tb(0), {.sync = Sync::Before});
      Rank(0).copy(scratch[0].slice(2, 4), sum, tb(0));
      Rank(0).copy(sum, scratch[0].slice(2, 4), tb(0));
    } else {
      channels[1].wait(tb(0), {.sync = Sync::After});
      Rank(1).copy(Rank(1).output().slice(0, 2), scratch[1].slice(2, 4), tb(0));
    }
  }
}
