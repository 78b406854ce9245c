// A program of operations may name its nodes. Memory and switch channels join ranks of one node, and estimates are of a
// machine with as many nodes.
// RUN: %verify %s --max-errors=0
// RUN: mscclc %s -P far=false --emit-ir | FileCheck %s --check-prefix=IR
// IR: program "p" {
// IR-NEXT: collective allgather inplace
// IR: ranks_per_node 2
// RUN: mscclc %s -P far=false --no-verify --estimate --size 1M | FileCheck %s --check-prefix=NODES
// NODES: p on h100x8*2, run by
// RUN: mscclc %s -P far=false --no-verify --emit-dsl -o %t.cpp && FileCheck %s --check-prefix=SOURCE --input-file %t.cpp && mscclc %t.cpp --no-verify --estimate --size 1M | FileCheck %s --check-prefix=NODES
// SOURCE: {.ranksPerNode = 2}
// IR text is asked the same.
// RUN: mscclc %s -P far=false --emit-ir --passes= -o %t.ir && sed 's/ranks_per_node 2/ranks_per_node 1/' %t.ir > %t-apart.ir
// RUN: sh -c 'mscclc %t-apart.ir --verify; echo code=$?' 2>&1 | FileCheck %s --check-prefix=APART
// APART: error: memory channel 0 joins ranks 0 and 1, which are of different nodes: ports alone do
// APART: error: switch channel 0 joins ranks 0 and 1, which are of different nodes: ports alone do
// APART: code=1
// RUN: sed 's/ranks_per_node 2/ranks_per_node 3/' %t.ir > %t-uneven.ir && sh -c 'mscclc %t-uneven.ir --verify; echo code=$?' 2>&1 | FileCheck %s --check-prefix=UNEVEN
// UNEVEN: error: 4 ranks do not make nodes of 3: each node has the same number of ranks
#include <mscclc/chunks.hpp>
using namespace mscclc;

/// Puts one chunk from `src` to `dst`.
template <typename Channel> static void send(int dst, int src, Place at = Place::here()) {
  const auto [there, back] = Channel::pair(src, dst, at);
  there.put(Rank(dst).output()[src], Rank(src).output()[src], tb(0));
  there.signal(tb(0), {.sync = Sync::Before});
  back.wait(tb(0), {.sync = Sync::After});
}

MSCCLC_ALGORITHM void f(bool far = true) {
  CollectiveProgram program("p", AllGather(4, 1, true), {.ranksPerNode = 2});
  for (int rank = 0; rank < 4; ++rank) {
    send<MemoryChannel>(rank ^ 1, rank);
    send<PortChannel>(rank ^ 2, rank);
  }
  SwitchChannel near({0, 1}, BufferType::Output);
  if (!far)
    return;
  MemoryChannel(2, 1); // expected-error@:3 {{'MemoryChannel' cannot be used between rank 1 and rank 2, which are of different nodes: write PortChannel(dst, src), as memory joins ranks of one node}}
  SwitchChannel({0, 1, 3}, BufferType::Output); // expected-error@:3 {{'SwitchChannel' cannot be used between rank 0 and rank 3, which are of different nodes: make one for the ranks of each node, as a switch joins these}}
  ChunkRef near_ref = chunk(0, BufferType::Output, 0), far_ref = chunk(2, BufferType::Output, 2);
  near_ref.put(1, BufferType::Output, 0, {.sendtb = 1});
  near_ref.put(2, BufferType::Output, 0, {.sendtb = 1}); // expected-error@:12 {{'put' cannot be used between rank 0 and rank 2, which are of different nodes: write .channel = ChannelType::Port, as memory joins ranks of one node}}
  far_ref.get(0, BufferType::Output, 0, {.recvtb = 1}); // expected-error@:11 {{'get' cannot be used between rank 2 and rank 0, which are of different nodes: put on the other rank, through ChannelType::Port}}
}
