// The executor's threads move plain data in words of 16 bytes, packets in words of 8; a port moves bytes.
// RUN: not mscclc %s --no-verify -P alignment=4 2>&1 | FileCheck %s --check-prefixes=PLAIN,PACKETS
// RUN: not mscclc %s --no-verify -P alignment=8 2>&1 | FileCheck %s --check-prefix=PLAIN --implicit-check-not="'copyPackets'"
// RUN: %verify --prefix=loop %s --no-verify -P unit=24
// RUN: mscclc %s --no-verify -o /dev/null
// RUN: mscclc %s --no-verify -P alignment=4 --emit-cuda -o /dev/null
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void words(int alignment = 16, int unit = 64) {
  CollectiveProgram program("words", AllGather(2, 1, false), {.protocol = Protocol::LL, .bufferAlignment = alignment});
  Rank self(0);
  Buffer scratch(0, 2);
  PortChannel(1, 0).putWithSignal(Rank(1).output()[0], self.input()[0], tb(0));
  // PLAIN: small-alignment.cpp:[[#@LINE+1]]:{{[0-9]+}}: error: mscclpp-1f5f065d moves the data of 'copy' in words of 16 bytes and gets chunks that are no multiples of them wrong, as with a buffer alignment of {{[48]}}; a baked kernel (--emit-cuda --target=none) does it right
  self.copy(self.output()[0], self.input()[0], tb(0));
  // PACKETS: small-alignment.cpp:[[#@LINE+1]]:{{[0-9]+}}: error: mscclpp-1f5f065d moves the data of 'copyPackets' in words of 8 bytes
  self.copyPackets(scratch[1], self.input()[0], tb(1));
  PipelineLoop loop(unit, 1);
  // loop-error@+1 {{mscclpp-1f5f065d moves the data of 'reduce' in words of 16 bytes and gets chunks that are no multiples of them wrong, as with a pipeline unit of 24}}
  self.reduce(self.output()[1], {self.input()[0]}, tb(2));
}
