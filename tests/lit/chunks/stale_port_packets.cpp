// Packets that go through a port, or that a signal or a flush is about, take the memory of packets: a write of packets
// elsewhere does not make their ref stale, and one over them does.
// RUN: mscclc %s --emit-ir --passes= --no-verify --algorithm fresh | FileCheck %s
// RUN: %verify %s --algorithm stale --max-errors=0
#include <mscclc/chunks.hpp>
using namespace mscclc;

// CHECK-LABEL: rank 0 {
// CHECK: cpkt scratch[1:2] <- input[1:2]
// CHECK-NEXT: cpkt scratch[0:1] <- input[0:1]
// CHECK-NEXT: ppkt port [0] remote{{[0-9]}}[3:4] <- scratch[1:2]
// CHECK-NEXT: signal port [0] sync both
// CHECK-NEXT: flush port [0] sync both
MSCCLC_ALGORITHM void fresh() {
  CollectiveProgram program("p", AllGather(2, 2, false), {.protocol = Protocol::LL});
  const ChunkOptions port{.sendtb = 0, .channel = ChannelType::Port};
  const ChunkRef b = chunk(0, BufferType::Input, 1).copyPackets(0, BufferType::Scratch, 1, {.sendtb = 0});
  chunk(0, BufferType::Input, 0).copyPackets(0, BufferType::Scratch, 0, {.sendtb = 0});
  b.putPackets(1, BufferType::Scratch, 3, port);
  b.signal(1, BufferType::Scratch, 3, port).flush(1, BufferType::Scratch, 3, port);
  chunk(1, BufferType::Scratch, 3).wait(0, BufferType::Scratch, 1, {.recvtb = 0, .channel = ChannelType::Port});
}

MSCCLC_ALGORITHM void stale() {
  CollectiveProgram program("p", AllGather(2, 2, false), {.protocol = Protocol::LL});
  const ChunkOptions port{.sendtb = 0, .channel = ChannelType::Port};
  const ChunkRef b = chunk(0, BufferType::Input, 1).copyPackets(0, BufferType::Scratch, 1, {.sendtb = 0}); // expected-note@:53 {{the ref was taken here}}
  // expected-note@-1:53 {{the ref was taken here}}
  const ChunkRef a = chunk(0, BufferType::Scratch, 0);
  chunk(0, BufferType::Input, 0).copyPackets(0, BufferType::Scratch, 1, {.sendtb = 0}); // expected-note@:34 2 {{they are overwritten here}}
  a.putPackets(1, BufferType::Scratch, 2, port);
  b.putPackets(1, BufferType::Scratch, 3, port); // expected-error@:5 {{this ref is stale, as chunks 1:2 of rank 0's scratch buffer were overwritten after it was taken}}
  b.flush(1, BufferType::Scratch, 3, port); // expected-error@:5 {{this ref is stale, as chunks 1:2 of rank 0's scratch buffer were overwritten after it was taken}}
}
