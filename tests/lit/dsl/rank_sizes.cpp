// A custom collective whose ranks have buffers of different sizes: rank 0 gathers what the others have.
// RUN: %verify %s --algorithm gather
// RUN: mscclc %s --algorithm gather -P bad=0 -o %t.json && FileCheck %s --check-prefix=PLAN --input-file %t.json
// PLAN: "id": 0,
// PLAN-NEXT: "input_chunks": 1,
// PLAN-NEXT: "output_chunks": 6,
// PLAN: "id": 2,
// PLAN-NEXT: "input_chunks": 3,
// PLAN-NEXT: "output_chunks": 1,
// RUN: mscclc %t.json -o - | diff %t.json -
// RUN: mscclc %s --algorithm gather -P bad=0 --verify | FileCheck %s --check-prefix=PROVEN
// RUN: mscclc %s --algorithm gather -P bad=0 -P inplace=true -P ranks=2..4 --verify | FileCheck %s --check-prefix=TABLE
// PROVEN: gatherv: proven: 3 ranks, 2 launches: {{.*}}, 6 output chunks right, nothing stated of 2 more
// TABLE: 4 0 proven: 4 ranks, {{.*}}, 10 output chunks right
// RUN: mscclc %s --algorithm gather -P bad=0 --emit-ir --passes= -o %t.ir && FileCheck %s --check-prefix=IR --input-file %t.ir && mscclc %t.ir --passes= --emit-ir | diff %t.ir -
// IR: collective custom "gatherv"
// IR: expect 0.output[5] = 2.input[2]
// IR: buffers input 2 output 1 scratch 0
// A message is as long as the largest input.
// RUN: mscclc %s --algorithm gather -P bad=0 --run --size 48,96 --schedules 20 | FileCheck %s --check-prefix=RAN
// RAN: 48 20 0 yes
// RAN: 96 20 0 yes
// RUN: not mscclc %s --algorithm gather -P bad=0 --run --size 16 2>&1 | FileCheck %s --check-prefix=SIZE
// SIZE: it must be a multiple of 48 bytes, 3 chunks of 16 bytes each
// RUN: mscclc %s --algorithm gather -P bad=0 --estimate --size 3M | FileCheck %s --check-prefix=TIME
// TIME: link out rank 2 3{{[0-9]+}} bytes
// RUN: mscclc %s --algorithm gather -P bad=0 --emit-cuda | FileCheck %s --check-prefix=KERNEL
// KERNEL: groupChunks = 3;
// KERNEL: info->input_chunks = r + 1;
// RUN: mscclc %t.ir --emit-dsl -o %t-source.cpp && FileCheck %s --check-prefix=SOURCE --input-file %t-source.cpp && mscclc %t-source.cpp -o - | diff %t.json -
// SOURCE: CustomCollective collective("gatherv", {{[{][{]}}1, 6}, {2, 1}, {3, 1}}, /*inplace=*/false);
// Statements move chunks of such buffers as well.
// RUN: mscclc %s --algorithm moves -P bad=0 --verify | FileCheck %s --check-prefix=PROVEN
// RUN: mscclc %s --algorithm moves -P bad=0 --run --size 48 --schedules 20 | FileCheck %s --check-prefix=MOVED
// MOVED: 48 20 0 yes
// RUN: mscclc %s --algorithm gather -P bad=0 -P left=0 -o %t-empty.json 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: warning: rank 1 has no output chunks: mscclpp-1f5f065d divides by their number when it loads the plan
#include <mscclc/dsl.hpp>
using namespace mscclc;

/// Rank r has r + 1 chunks; rank 0 gets them all, and others have `left` chunks of output.
static List<ChunkCounts> sizes(int ranks, int left) {
  List<ChunkCounts> all;
  for (int rank = 0; rank < ranks; ++rank)
    all.push_back({rank + 1, rank == 0 ? ranks * (ranks + 1) / 2 : left});
  return all;
}
/// Where rank 0 gets the chunks of `rank`.
static int placeOf(int rank) { return rank * (rank + 1) / 2; }

static CustomCollective gathering(int ranks, int left, bool inplace = false) {
  CustomCollective collective("gatherv", sizes(ranks, left), inplace);
  for (int rank = 0; rank < ranks; ++rank)
    for (int chunk = 0; chunk <= rank; ++chunk)
      collective.expect(0, placeOf(rank) + chunk, {{rank, chunk}});
  return collective;
}

MSCCLC_ALGORITHM void gather(int ranks = 3, int left = 1, bool inplace = false, int bad = 1) {
  if (bad != 0) {
    CustomCollective negative("x", {{1, 2}, {-1, 3}}); // expected-error@:22 {{an input buffer cannot have -1 chunks on rank 1: it has 0 to}}
    CustomCollective far("y", {{1, 2}, {2, 1}});
    far.expect(1, 1, {{0, 0}}); // expected-error@:9 {{expectation for output chunk 1 is out of range: the output has 1 chunk}}
    far.expect(0, 1, {{1, 1}});
    far.expect(0, 0, {{0, 1}}); // expected-error@:9 {{contribution of input chunk 1 is out of range: the input has 1 chunk}}
  }
  CollectiveProgram program("gatherv", gathering(ranks, left, inplace));
  if (!inplace)
    Rank(0).copy(Rank(0).output()[0], Rank(0).input()[0], tb(0));
  for (int rank = 1; rank < ranks; ++rank) {
    const auto [there, back] = MemoryChannel::pair(rank, 0);
    back.signal(tb(0), {.relaxed = true});
    there.wait(tb(0), {.relaxed = true});
    there.put(Rank(0).output().slice(placeOf(rank), placeOf(rank) + rank + 1), Rank(rank).input().slice(0, rank + 1), tb(0));
    there.signal(tb(0), {.sync = Sync::Before});
    back.wait(tb(0), {.sync = Sync::After});
  }
  if (bad == 0)
    return;
  SwitchChannel all({0, 1, 2}, BufferType::Input);
  all.atRank(2).broadcast(Rank(2).input()[1], 1, 1, tb(0)); // expected-error@:17 {{chunks 1:2 of the switch channel are out of range: rank 0's input has 1 chunk}}
  // expected-note@-2:17 {{switch channel made here}}
  Rank(0).copy(Rank(0).output()[5], Rank(0).input()[1], tb(0)); // expected-error@:53 {{slice 1:2 is out of range: rank 0's input has 1 chunk}}
}

MSCCLC_ALGORITHM void moves(int ranks = 3, int bad = 1) {
  CollectiveProgram program("gatherv", gathering(ranks, 1), {.schedule = Schedule::Auto});
  for (int rank = 0; rank < ranks; ++rank)
    copy(Rank(0).output().slice(placeOf(rank), placeOf(rank) + rank + 1), Rank(rank).input().slice(0, rank + 1));
}
