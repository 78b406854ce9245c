// Every second launch uses the second half of double scratch. The executor goes there for a block's own accesses and
// for packets, but not for plain data that a switch or a port reaches.
// RUN: not mscclc %s --no-verify -P what=0 2>&1 | FileCheck %s --check-prefix=STORED
// RUN: not mscclc %s --no-verify -P what=1 2>&1 | FileCheck %s --check-prefix=REDUCED
// RUN: not mscclc %s --no-verify -P what=2 2>&1 | FileCheck %s --check-prefix=SENT
// RUN: mscclc %s --no-verify -P what=2 --target=none -o /dev/null
// RUN: mscclc %s --no-verify -P what=2 --emit-cuda -o /dev/null
// RUN: mscclc %s --no-verify -P what=3 -o /dev/null
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void halves(int what = 0) {
  CollectiveProgram program("halves", AllGather(2, 1, false), {.doubleScratch = true});
  Buffer mine(0, 1), theirs(1, 1);
  SwitchChannel group({0, 1}, BufferType::Scratch);
  Rank self(0);
  switch (what) {
  case 0:
    // STORED: double-scratch.cpp:[[#@LINE+1]]:{{[0-9]+}}: error: mscclpp-1f5f065d does not switch halves of double scratch for 'gstore', so every second launch would be wrong; a baked kernel (--emit-cuda) does it right
    group.atRank(0).broadcast(self.input()[0], 0, 1, tb(0));
    break;
  case 1:
    // REDUCED: double-scratch.cpp:[[#@LINE+1]]:{{[0-9]+}}: error: mscclpp-1f5f065d does not switch halves of double scratch for 'glres'
    group.atRank(0).reduce(0, 1, mine[0], tb(0));
    group.atRank(0).broadcast(mine[0], 0, 1, tb(0));
    break;
  case 2:
    // SENT: double-scratch.cpp:[[#@LINE+1]]:{{[0-9]+}}: error: mscclpp-1f5f065d does not switch halves of double scratch for 'pws'
    PortChannel(1, 0).putWithSignal(Rank(1).output()[0], mine[0], tb(0));
    break;
  default:
    self.copy(self.output()[0], mine[0], tb(0));
  }
}
