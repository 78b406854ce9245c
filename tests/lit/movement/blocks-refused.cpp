// What takes more thread blocks than `.blocks` says is refused, with what asks for them.
// REQUIRES: frontend
// RUN: not mscclc %s --algorithm alltoall -P ranks=32 --message-size 1M --target=mscclpp-0.9 --emit-ir 2>&1 | FileCheck %s --check-prefix=CHANNELS
// CHANNELS: blocks-refused.cpp:[[@LINE+32]]:7: error: rank 0 needs 2 thread blocks, but the program allows it 1: allow more blocks
// CHANNELS: note: a thread block of mscclpp-0.9 has at most 16 channels and 16 remote buffers of a type, so rank 0, which may need 31 channels and 31 remote buffers as it is scheduled, takes at least 2{{$}}
// RUN: not mscclc %s --algorithm alltoall -P ranks=4 -P instances=2 --message-size 1M --emit-ir 2>&1 | FileCheck %s --check-prefix=INSTANCES
// INSTANCES: error: rank 0 needs 1 thread block in each of 2 instances, but the program allows it 1: allow more blocks, or take fewer instances
// INSTANCES-NOT: {{note: a thread block|rank 1}}
// Remote buffers count as channels do. Another schedule may need fewer: this one reads inputs and writes outputs, and
// packets go to scratch alone.
// RUN: not mscclc %s --algorithm allreduce -P ranks=10 -P blocks=1 -P protocol=Simple --message-size 64M --emit-ir 2>&1 | FileCheck %s --check-prefix=BUFFERS
// BUFFERS: error: rank 0 needs 2 thread blocks, but the program allows it 1: allow more blocks
// BUFFERS: so rank 0, which may need 9 channels and 18 remote buffers as it is scheduled, takes at least 2{{$}}
// RUN: mscclc %s --algorithm allreduce -P ranks=10 -P blocks=1 --message-size 1M -o %t.json
// RUN: not mscclc %s --algorithm allreduce -P ranks=40 -P blocks=2 --message-size 1M --emit-ir 2>&1 | FileCheck %s --check-prefix=LEAST
// LEAST: error: rank 0 needs 5 thread blocks, but the program allows it 2: allow more blocks
// LEAST: so rank 0, which may need 39 channels and 78 remote buffers as it is scheduled, takes at least 5{{$}}
// RUN: mscclc %s --algorithm allreduce -P ranks=40 -P blocks=3 --message-size 1M -o %t.json
// RUN: not mscclc %s --algorithm alltoall -P ranks=32 -P instances=2 --message-size 1M --emit-ir 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: error: rank 0 needs 2 thread blocks in each of 2 instances, but the program allows it 1: allow more blocks, or take fewer instances
// BOTH: so rank 0, which may need 31 channels and 31 remote buffers as it is scheduled, takes at least 2 in each of 2 instances
// Instances that are left open are as many as these blocks take.
// RUN: mscclc %s --algorithm open --message-size 64M --explain | FileCheck %s --check-prefix=OPEN
// OPEN: {{^}}chosen for 64M
// OPEN: instances: {{one|2|4}},
// A kernel's block has as many channels as it needs.
// RUN: mscclc %s --algorithm alltoall -P ranks=32 --message-size 1M --target=none -o %t.json
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void alltoall(int ranks = 4, int instances = 1) {
  CollectiveProgram program("alltoall", AllToAll(ranks, 1, /*inplace=*/false),
                            {.instances = instances, .protocol = Protocol::Simple, .schedule = Schedule::Auto, .blocks = 1});
  for (int rank = 0; rank < ranks; ++rank)
    for (int step = 0; step < ranks; ++step)
      copy(Rank((rank + step) % ranks).output()[rank], Rank(rank).input()[(rank + step) % ranks]);
}

MSCCLC_ALGORITHM void open(int ranks = 8) {
  CollectiveProgram program("open", AllGather(ranks, 1, /*inplace=*/true),
                            {.instances = automatic, .protocol = Protocol::Simple, .schedule = Schedule::Auto, .blocks = 4});
  for (int src = 0; src < ranks; ++src)
    for (int dst = 0; dst < ranks; ++dst)
      copy(Rank(dst).output()[src], Rank(src).output()[src]);
}

MSCCLC_ALGORITHM void allreduce(int ranks = 4, int blocks = 2, Protocol protocol = Protocol::Auto) {
  CollectiveProgram program("allreduce", AllReduce(ranks, 1, /*inplace=*/true),
                            {.instances = 1, .protocol = protocol, .schedule = Schedule::Auto, .blocks = blocks});
  for (int rank = 0; rank < ranks; ++rank) {
    List<Chunk> inputs, outputs;
    for (int step = 1; step < ranks; ++step) {
      inputs.push_back(Rank((rank + step) % ranks).input()[rank]);
      outputs.push_back(Rank((rank + step) % ranks).output()[rank]);
    }
    reduce(Rank(rank).input()[rank], inputs);
    copy(outputs, Rank(rank).output()[rank]);
  }
}
