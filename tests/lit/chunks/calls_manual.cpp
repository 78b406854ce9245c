// Every call in a program of Schedule::Manual: what operation it is, of which thread block and channel.
// RUN: mscclc %s --emit-ir --passes= | FileCheck %s
#include <mscclc/chunks.hpp>
using namespace mscclc;

// CHECK-LABEL: rank 0 {
// CHECK-NEXT: buffers input 4 output 4 scratch 1
// CHECK-NEXT: memory_channels [1, 1, 1]
// CHECK-NEXT: port_channels [1, 1]
// CHECK: block 0 {
// CHECK: put memory remote0[0:2] <- input[0:2]
// CHECK-NEXT: signal memory [0] sync both
// CHECK: block 2 {
// CHECK: channels [port 0]
// CHECK-NEXT: wait port [0] sync both
// CHECK: block 3 {
// CHECK: ppkt memory remote0[4:5] <- input[0:1]
// CHECK-LABEL: rank 1 {
// CHECK-NEXT: buffers input 4 output 4 scratch 7
// CHECK-NEXT: memory_channels [0, 0, 0]
// CHECK-NEXT: port_channels [0, 0]
// CHECK: block 0 {
// CHECK: wait memory [0] sync both
// CHECK-NEXT: copy output[0:2] <- scratch[0:2]
// CHECK: block 1 {
// CHECK: channels [memory 1, port 0]
// CHECK: get memory [1] output[2:4] <- remote0[2:4]
// CHECK-NEXT: re output[2:4] <- output[2:4]{{.*}}, input[2:4]{{.*}} reduce_op max
// CHECK-NEXT: rre memory output[2:4] <- output[2:4]{{.*}}, remote0[2:4] reduce_op min
// CHECK-NEXT: put port [0] remote1[2:4] <- output[2:4]
// CHECK-NEXT: signal port [0] sync both
// CHECK-NEXT: flush port [0] sync both
// CHECK-NEXT: }
// CHECK: block 3 {
// CHECK: upkt output[0:1] <- scratch[4:5]
// CHECK-NEXT: repkt output[0:1] <- output[0:1]{{.*}}, scratch[4:5]
// CHECK-NEXT: cpkt scratch[6:7] <- output[0:1]
// CHECK-NEXT: ppkt port [1] remote2[0:1] <- scratch[6:7]
// CHECK-NEXT: }
MSCCLC_ALGORITHM void manual() {
  CollectiveProgram program("p", AllReduce(2, 2, false));
  const ChunkRef a = chunk(0, BufferType::Input, 0, 2);
  const ChunkRef b = a.put(1, BufferType::Scratch, 0, {.sendtb = 0});
  a.signal(1, BufferType::Scratch, 0, {.sendtb = 0});
  b.wait(0, BufferType::Input, 0, {.recvtb = 0});
  b.copy(1, BufferType::Output, 0, {.sendtb = 0});
  ChunkRef c = chunk(1, BufferType::Output, 2, 2).get(0, BufferType::Input, 2, {.recvtb = 1});
  c.copy(1, BufferType::Output, 2, {.sendtb = 1}); // onto itself: nothing moves
  c.reduce(chunk(1, BufferType::Input, 2, 2), {.recvtb = 1, .op = ReduceOp::Max});
  c.reduce(chunk(0, BufferType::Input, 2, 2), {.recvtb = 1, .op = ReduceOp::Min});
  const ChunkOptions port{.sendtb = 1, .recvtb = 2, .channel = ChannelType::Port};
  const ChunkRef d = c.put(0, BufferType::Output, 2, port);
  c.signal(0, BufferType::Output, 2, port);
  c.flush(0, BufferType::Output, 2, {.sendtb = 1, .recvtb = 2});
  d.wait(1, BufferType::Output, 2, port);
  const ChunkRef e = chunk(0, BufferType::Input, 0).putPackets(1, BufferType::Scratch, 4, {.sendtb = 3});
  ChunkRef f = e.copyPackets(1, BufferType::Output, 0, {.sendtb = 3});
  f.reducePackets(e, {.sendtb = 3, .recvtb = 3});
  f.copyPackets(1, BufferType::Scratch, 6, {.recvtb = 3})
      .putPackets(0, BufferType::Scratch, 0, {.sendtb = 3, .channel = ChannelType::Port});
}
