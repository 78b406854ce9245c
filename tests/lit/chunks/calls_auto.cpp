// Every call in a program of Schedule::Auto: what statement it is.
// RUN: g++ -std=c++20 -fsyntax-only -Wall -Wextra -Wpedantic -Wshadow -Werror -I%dsl_headers %s
// RUN: mscclc %s --emit-ir --passes= | FileCheck %s
#include <mscclc/chunks.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void automatically() {
  CollectiveProgram program("p", AllReduce(4, 1, false), {.schedule = Schedule::Auto, .ranksPerNode = 2});
  const ChunkRef a = chunk(0, BufferType::Input, 0, 2);
  // CHECK: buffers input 4 output 4 scratch 0
  // CHECK: buffers input 4 output 4 scratch 5
  // CHECK: move {
  // CHECK-NEXT: copy 1.scratch[0:2] <- 0.input[0:2] @
  const ChunkRef b = a.put(1, BufferType::Scratch, 0);
  // CHECK-NEXT: copy 1.output[0:2] <- 0.input[2:4] @
  ChunkRef c = chunk(1, BufferType::Output, 0, 2).get(0, BufferType::Input, 2);
  // CHECK-NEXT: reduce 1.output[0:2] <- 1.output[0:2], 1.scratch[0:2] reduce_op max @
  c.reduce(b, {.op = ReduceOp::Max});
  // CHECK-NEXT: reduce 1.output[0:2] <- 1.output[0:2], 0.input[0:2] via memory @
  c.reduce(a, {.channel = ChannelType::Memory});
  // CHECK-NEXT: copy 2.output[2:4] <- 1.output[0:2] via port @
  const ChunkRef d = c.copy(2, BufferType::Output, 2, {.channel = ChannelType::Port});
  d.copy(2, BufferType::Output, 2); // onto itself: nothing moves
  // CHECK-NEXT: copy 2.output[0:2] <- 2.output[2:4] @
  d.copy(2, BufferType::Output, 0);
  // CHECK-NEXT: copy 1.scratch[4:5] <- 0.input[3:4] packets on @
  // CHECK-NEXT: copy 1.output[3:4] <- 1.scratch[4:5] @
  chunk(0, BufferType::Input, 3).putPackets(1, BufferType::Scratch, 4).copyPackets(1, BufferType::Output, 3);
  // CHECK-NEXT: copy 3.output[0:1] <- 2.output[0:1] packets on @
  ChunkRef e = chunk(2, BufferType::Output, 0).copyPackets(3, BufferType::Output, 0);
  // CHECK-NEXT: reduce 3.output[0:1] <- 3.output[0:1], 1.scratch[4:5] packets on @
  e.reducePackets(chunk(1, BufferType::Scratch, 4));
}
